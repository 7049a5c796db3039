//! Point-in-time recovery: a base backup, an archive of the log, and a restore to a moment between.

use kassa_test_patience::wait_until;

use crate::{Cluster, USER, programs::output};

impl Cluster {
    /// Starts one that archives its log.
    pub fn start_with_archive() -> Self {
        Self::start_in_a_folder(|folder| {
            format!(" -c archive_mode=on -c archive_command='mkdir -p {folder}/archive && cp %p {folder}/archive/%f'")
        })
    }

    /// A base backup.
    pub fn back_up(&self) {
        let port = self.port.to_string();
        let to = ["-h", "127.0.0.1", "-p", &port, "-U", USER, "-D", &self.base(), "-c", "fast", "--no-sync"];
        output(self.programs.postgres("pg_basebackup").args(to));
    }

    /// Names this moment.
    pub fn mark(&self, name: &str) {
        self.psql("postgres", &format!("SELECT pg_create_restore_point('{name}')"));
    }

    /// Puts it back to a moment after the base backup: what was committed later is gone.
    pub fn restore(&self, name: &str) {
        self.psql("postgres", "SELECT pg_switch_wal()");
        // The archive gets the rest of the log.
        self.stop("fast");
        let (data, base) = (self.data(), self.base());
        let settings = format!(
            "restore_command = 'cp {}/%f \"%p\"'\nrecovery_target_name = '{name}'\nrecovery_target_action = 'promote'\n",
            self.archive()
        );
        let swap = "rm -rf \"$0\" && mv \"$1\" \"$0\" && printf %s \"$2\" >> \"$0/postgresql.auto.conf\" && touch \"$0/recovery.signal\"";
        output(self.programs.command("sh").args(["-ec", swap, &data, &base, &settings]));
        self.start_again();
        wait_until("the recovery ends", || self.psql("postgres", "SELECT pg_is_in_recovery()") == "f");
    }

    fn base(&self) -> String {
        format!("{}/base", self.folder)
    }

    fn archive(&self) -> String {
        format!("{}/archive", self.folder)
    }
}
