//! NOTIFY and LISTEN: servers wake one another. A notification takes a lock of the whole cluster at its commit, so many changes share
//! one, outside of the transactions that make them.

use std::{
    future::{pending, poll_fn},
    pin::pin,
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::time::timeout;
use tokio_postgres::AsyncMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    connections::{Connections, Kind, WATCH_THE_LINE},
    problem::{Problem, told},
    session::{NOT_ON_DISK, Session},
    settings::PostgresSettings,
};
use crate::{
    storage::{
        Stored,
        error::StorageError,
        neighbours::{Neighbours, Wake},
    },
    values::ids::CheckoutId,
};

const LISTEN: &str = "LISTEN kassa_changes";
const NOTIFY: &str = "SELECT pg_notify('kassa_changes', payload) FROM unnest($1::text[]) AS payload";
/// A payload is shorter than 8,000 bytes; an identifier has 36.
const IN_A_PAYLOAD: usize = 150;
const CONNECTING: Duration = Duration::from_secs(5);

/// The servers of a database, as one of them hears them.
pub(super) struct Channel {
    pub(super) connections: Connections,
    pub(super) settings: PostgresSettings,
    /// Whose notifications are one's own.
    pub(super) name: String,
}

impl Neighbours for Channel {
    fn tell(&self, changed: Vec<CheckoutId>) -> Stored<'_, ()> {
        let one = |some: &[CheckoutId]| {
            let ids = some.iter().map(CheckoutId::as_str);
            std::iter::once(self.name.as_str()).chain(ids).collect::<Vec<_>>().join(" ")
        };
        let payloads: Vec<String> = changed.chunks(IN_A_PAYLOAD).map(one).collect();
        Box::pin(self.connections.run(Kind::Write, payloads, |db, payloads| Box::pin(notify(db, payloads))))
    }

    fn hear<'a>(&'a self, wake: Wake<'a>) -> Stored<'a, ()> {
        Box::pin(async move { self.listen(wake).await.map_err(|problem| StorageError::failed(told(&problem))) })
    }
}

async fn notify(db: &Session, payloads: &[String]) -> Result<(), Problem> {
    db.together(vec![(NOT_ON_DISK, vec![]), (NOTIFY, vec![&payloads])]).await?;
    Ok(())
}

impl Channel {
    /// On a connection of its own: one of the pool's is somebody else's in between.
    async fn listen(&self, wake: Wake<'_>) -> Result<(), tokio_postgres::Error> {
        let Ok(tls) = self.settings.tls() else { return Ok(()) };
        let config = self.settings.config();
        let Ok(connected) = timeout(CONNECTING, config.connect(MakeRustlsConnect::new(tls))).await else {
            return Ok(());
        };
        let (client, mut connection) = connected?;
        let mut listening = pin!(async {
            client.batch_execute(WATCH_THE_LINE).await?;
            client.batch_execute(LISTEN).await?;
            // Whatever was said before was not heard.
            wake(None);
            pending::<Result<(), tokio_postgres::Error>>().await
        });
        loop {
            let message = pin!(poll_fn(|context| connection.poll_message(context)));
            match select(message, &mut listening).await {
                Either::Left((Some(message), _)) => self.heard(message?, wake),
                Either::Left((None, _)) => return Ok(()),
                Either::Right((failed, _)) => return failed,
            }
        }
    }

    fn heard(&self, message: AsyncMessage, wake: Wake<'_>) {
        let AsyncMessage::Notification(said) = message else { return };
        let mut words = said.payload().split(' ');
        if words.next() == Some(self.name.as_str()) {
            return;
        }
        // Another program may use the channel, too.
        words.filter_map(|word| word.parse().ok()).for_each(|id: CheckoutId| wake(Some(&id)));
    }
}
