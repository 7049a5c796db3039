//! Where what is measured keeps its data: a SQLite file, or a database on PostgreSQL.

use std::{fs, path::PathBuf, process::Command, sync::Arc};

use kassa_server::{PostgresSettings, PostgresStorage, SqliteStorage, Storage};
use kassa_test_postgres::psql;

pub struct Place {
    pub folder: PathBuf,
    /// The address of a PostgreSQL database.
    pub url: Option<String>,
}

impl Place {
    pub fn kind(&self) -> &'static str {
        if self.url.is_some() { "PostgreSQL" } else { "SQLite" }
    }

    /// How many open payments: on PostgreSQL a million.
    pub fn many(&self, on_a_file: i64) -> i64 {
        if self.url.is_some() { 1_000_000 } else { on_a_file }
    }

    /// How many processes share it, one measurement after another.
    pub fn processes(&self) -> &'static [usize] {
        if self.url.is_some() { &[1, 2, 4] } else { &[1] }
    }

    /// SQLite's file.
    pub fn file(&self) -> PathBuf {
        self.folder.join("kassa.db")
    }

    /// What the database takes on the disk.
    pub fn size(&self) -> u64 {
        if let Some(url) = &self.url {
            return psql(url, "SELECT pg_database_size(current_database())").parse().expect("a size");
        }
        let files = fs::read_dir(&self.folder).expect("a folder").flatten();
        files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
    }

    pub async fn storage(&self) -> Arc<dyn Storage> {
        match &self.url {
            Some(url) => {
                let settings = PostgresSettings::parse(url).expect("an address");
                Arc::new(PostgresStorage::open(&settings).await.expect("a database"))
            }
            None => Arc::new(SqliteStorage::open(&self.file()).expect("a database")),
        }
    }

    /// Another process of this program, on the same place.
    pub fn process(&self, measurement: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("a program"));
        command.arg(&self.folder).arg(self.url.as_deref().unwrap_or("sqlite")).arg(measurement);
        command
    }
}
