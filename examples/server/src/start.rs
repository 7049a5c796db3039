//! The server to try out: its addresses, a checkout's page, and the lines of a whole payment.

use std::env;

use kassa_client::{Client, Event, NewCheckout};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{
    Failure, gateway_side,
    server_process::{Plan, SECRET_FILE},
    shop,
};

const SERVER_PORT: u16 = 8080;
const SANDBOX_PORT: u16 = 8400;
const EVENTS_URL: &str = "KASSA_SERVER_EVENTS_URL";
const EVENTS_SECRET: &str = "KASSA_SERVER_EVENTS_SECRET";

/// Where events go.
struct Events {
    /// Those that come to this program; none where the developer's shop receives them.
    received: UnboundedReceiver<Event>,
    /// For the developer.
    text: String,
}

/// With a receiver of events, or with the developer's own at this address.
pub(crate) async fn run(events_url: Option<&str>) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let sandbox = gateway_side::start(SANDBOX_PORT)?;
    let mut plan = Plan::new(&sandbox, gateway_side::free_port(SERVER_PORT)?, folder.path())?;
    // So that MegaPay is offered, too.
    plan.set("KASSA_SERVER_MEGAPAY_ACCOUNT", "7");
    let mut events = match events_url.map(str::to_owned).or_else(|| variable(EVENTS_URL)) {
        Some(url) => to_own_address(&mut plan, url).await?,
        None => to_this_program(&mut plan).await?,
    };
    let key = plan.new_key("shop", "make server").await?;
    let staff_key = plan.new_key("staff", "You").await?;
    let mut server = plan.start().await?;
    let page = page(&plan, &key).await?;
    println!("{}", text(&plan, sandbox.url(), [&key, &staff_key], &page, &events.text));
    loop {
        tokio::select! {
            ended = server.ended() => return ended,
            Some(event) = events.received.recv() => println!("event  {}", shop::line(&event)),
            pressed = tokio::signal::ctrl_c() => {
                pressed?;
                println!("\nstopped; {} is gone with it", plan.folder.display());
                return Ok(());
            }
        }
    }
}

/// A variable of the developer's that is set, and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

async fn to_this_program(plan: &mut Plan) -> Result<Events, Failure> {
    let secret = plan.new_secret().await?;
    let receiver = shop::open(&secret).await?;
    plan.set(EVENTS_URL, receiver.url);
    plan.set(EVENTS_SECRET, secret);
    let text = "\
this program receives them, verifies the signature of each, and prints a line
                   to receive them in your shop instead: make server EVENTS_URL=http://127.0.0.1:3000/kassa-events
                   (the server's setting events.url, by KASSA_SERVER_EVENTS_URL or --events-url)";
    Ok(Events { received: receiver.events, text: text.to_owned() })
}

async fn to_own_address(plan: &mut Plan, url: String) -> Result<Events, Failure> {
    let given = [EVENTS_SECRET, SECRET_FILE].into_iter().find(|name| variable(name).is_some());
    let signed = match given {
        Some(name) => format!("signed with the secret in {name}"),
        None => {
            let secret = plan.new_secret().await?;
            plan.set(EVENTS_SECRET, secret.clone());
            format!(
                "signed with {secret}
                   (a new one each time, unless you set {EVENTS_SECRET})"
            )
        }
    };
    let text = format!(
        "go to {url}, {signed}
                   answer 2xx to each; the log below says which your shop did not take, and it comes again"
    );
    plan.set(EVENTS_URL, url);
    // Nothing is sent on it: the loop that prints events has none to print.
    let (_, received) = unbounded_channel();
    Ok(Events { received, text })
}

/// A checkout that somebody can pay at once.
async fn page(plan: &Plan, key: &str) -> Result<String, Failure> {
    let order = NewCheckout::new("order-1", 390.into(), "Two tickets", &format!("{}/healthz", plan.url()));
    let checkout = Client::new(&plan.url(), key)?.open_checkout(&order).await?;
    checkout.page_url.ok_or_else(|| "the server shows no pages".into())
}

fn text(plan: &Plan, sandbox: &str, [key, staff_key]: [&str; 2], page: &str, events: &str) -> String {
    let (server, database) = (plan.url(), plan.folder.join("kassa-server.db"));
    let database = database.display();
    format!(
        r#"
  the server       {server}  (described at {server}/openapi.json)
  its database     {database}
  its API key      {key}
  its staff pages  {server}/staff  (what needs a person, every payment, reconciliation)
                   log in with {staff_key}
  the sandbox      {sandbox}  (the gateway's side: its dashboard, test cards and phones)
  events           {events}
  a checkout       {page}
                   open it in a browser and pay there; by MBank with the phone 0555 000 101 and the code 101101,
                   by MegaPay with the phone 0755 000 201 and the code 201201; `order-1` below shows what happened

A whole payment, line by line:

  SERVER={server} KEY={key}
  # the shop opens a checkout, and makes a token for its payer's app
  ID=$(curl -s $SERVER/v1/checkouts -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
    -d '{{"reference": "order-2", "amount": "250", "description": "A book", "return_url": "https://shop.example.kg/paid"}}' \
    | grep -o 'co_[0-9a-f]*' | head -1)
  TOKEN=$(curl -s -X POST $SERVER/v1/checkouts/$ID/tokens -H "Authorization: Bearer $KEY" | grep -o 'ct_[^"]*')
  # the app begins a payment by mobile bank, and sends the code from the SMS (101101)
  PAYMENT=$(curl -s $SERVER/v1/checkout/payments -H "Authorization: Bearer $TOKEN" -H 'Idempotency-Key: try-1' \
    -H 'Content-Type: application/json' -d '{{"method": "mbank", "phone": "996555000101"}}' | grep -o 'pay_[0-9a-f]*' | head -1)
  curl -s $SERVER/v1/checkout/payments/$PAYMENT/confirm -H "Authorization: Bearer $TOKEN" -H 'Idempotency-Key: otp-1' \
    -H 'Content-Type: application/json' -d '{{"otp": "101101"}}'; echo
  # the app waits until the gateway has reported what happened, and the shop reads its events
  curl -s "$SERVER/v1/checkout?after=5&wait=25" -H "Authorization: Bearer $TOKEN"; echo
  curl -s $SERVER/v1/events -H "Authorization: Bearer $KEY"; echo
  curl -s "$SERVER/v1/checkouts?reference=order-1" -H "Authorization: Bearer $KEY"; echo

Stop it with Ctrl-C."#
    )
}
