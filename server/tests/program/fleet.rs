//! The program on PostgreSQL: the same commands, several servers, and a password that is printed nowhere.

use serde_json::Value;

use crate::support::{Caller, Ended, Place, ended, permit, sandbox, settings_for};

/// With PostgreSQL, which takes any password here: it listens to this machine alone, and lets everybody in.
fn place(gateway: &str, url: &str) -> Place {
    let place = Place::new();
    place.write("kassa.toml", &settings_for(gateway).replace("'kassa.db'", &format!("'{url}'")));
    place
}

fn with_password(url: &str) -> String {
    url.replacen('@', ":hunter2@", 1)
}

fn assert_secret(ended: &Ended) {
    assert!(!ended.out.contains("hunter2") && !ended.err.contains("hunter2"), "{ended:?}");
}

#[test]
fn killed_server_leaves_nothing_behind() {
    let sandbox = sandbox();
    let database = kassa_test_postgres::shared().database();
    let place = place(sandbox.url(), &with_password(&database.url()));
    let shown = database.url().replacen("kassa@", "", 1);
    let checked = place.run(&["check"]);
    assert!(checked.line("database").contains(&format!("{shown} is reached, and empty")), "{checked:?}");
    assert!(checked.out.contains(&format!("database = {shown}  (kassa.toml:3)")), "{checked:?}");
    let listed = place.run(&["keys", "list"]);
    assert!(listed.code == Some(1) && listed.err.contains(&format!("there is no database {shown}")), "{listed:?}");
    let made = place.run(&["keys", "new", "--name", "shop"]);
    assert!(made.code == Some(0) && made.err.contains(&format!("a new one was created: {shown}")), "{made:?}");
    let key = made.out.trim().to_owned();

    let (one, two) = (place.start(&[]), place.start(&["--log", "trace"]));
    let (id, _) = Caller::new(&one, &key).open("order-1");
    one.signal("KILL");
    let (_, first_log, _) = one.wait();
    let (status, found) = Caller::new(&two, &key).call("GET", &format!("/v1/checkouts/{id}"), &Value::Null);
    assert!(status == 200 && found["state"] == "open", "{found}");

    let checked = place.run(&["check"]);
    assert!(checked.line("database").ends_with("has this server's version"), "{checked:?}");
    assert!(checked.line("keys").ends_with("1 good, 0 revoked"), "{checked:?}");
    let listed = place.run(&["keys", "list"]);
    assert!(listed.out.contains(" good  shop"), "{listed:?}");
    let replayed = place.run(&["events", "replay"]);
    assert!(replayed.out.starts_with("0 checkouts"), "{replayed:?}");
    let (status, second_log, _) = two.stop();
    assert!(status.success() && !first_log.contains("hunter2") && !second_log.contains("hunter2"), "{second_log}");
    // It would tell the values of each statement, wherever a crate of the same build turns that on.
    assert!(second_log.contains("serving") && !second_log.contains("tokio_postgres"), "{second_log}");
    let announced = place.command(&["--config", "kassa.toml", "--exit-with-stdin"]).output().unwrap();
    assert!(String::from_utf8(announced.stdout).unwrap().contains(&format!("  database     {shown}\n")));
    for ended in [checked, listed, replayed, made] {
        assert_secret(&ended);
    }
}

#[test]
fn misplaced_database_password_is_rejected() {
    let url = "postgres://kassa@db.invalid/kassa";
    let file = place("http://127.0.0.1:9", &with_password(url));
    let error_of = |place: &Place, arguments: &[&str]| {
        let ended = place.run(arguments);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert_secret(&ended);
        ended.err
    };
    let flag = error_of(&file, &["keys", "list", "--database", &with_password(url)]);
    assert!(flag.contains("database (--database) must not contain a password, because every user"), "{flag}");
    file.write("password", "hunter2\n");
    let twice = error_of(&file, &["keys", "list", "--database-password-file", "password"]);
    assert!(twice.contains("database (kassa.toml:3) must not contain a password if"), "{twice}");
    permit(&file.path("kassa.toml"), 0o644);
    assert!(
        file.run(&["check"]).out.contains("every user of this machine can read kassa.toml, which contains a secret")
    );

    // It reaches the database: a name that nobody has is what is wrong, and nothing before that.
    let alone = place("http://127.0.0.1:9", url);
    alone.write("password", "hunter2\n");
    let err = error_of(&alone, &["keys", "new", "--name", "shop", "--database-password-file", "password"]);
    assert!(err.starts_with("kassa-server: postgres://db.invalid:5432/kassa: "), "{err}");
    let mut command = alone.command(&["keys", "list", "--config", "kassa.toml"]);
    let err = ended(command.env("KASSA_SERVER_DATABASE_PASSWORD", "")).err;
    assert!(!err.contains("settings"), "an empty one is not set: {err}");
}

#[test]
fn unusable_postgres_url_is_reported_in_one_line() {
    let sandbox = sandbox();
    let output_of = |url: &str| {
        let place = place(sandbox.url(), url);
        let (checked, served) = (place.run(&["check"]), place.run(&[]));
        assert_eq!((checked.code, served.code), (Some(1), Some(1)), "{checked:?} {served:?}");
        for ended in [&checked, &served] {
            assert_secret(ended);
        }
        format!("{}\n{}", checked.out, served.err)
    };
    for (url, rule) in [
        ("mysql://hunter2", "must name a SQLite file, or begin with postgres://"),
        ("postgres://u:hunter2@h", "must name a host and a database"),
        ("postgres://u:hunter2@h/n?sslmode=prefer", "must not say sslmode=allow or prefer"),
        ("postgres://u:hunter2@h/n?sslrootcert=/no/such.pem", "/no/such.pem cannot be used"),
    ] {
        let output = output_of(url);
        assert_eq!(output.matches("database (kassa.toml:3) ").count(), 2, "{output}");
        assert_eq!(output.matches(rule).count(), 2, "{output}");
    }
    let nobody = output_of("postgres://kassa:hunter2@127.0.0.1:1/kassa");
    assert!(nobody.contains("wrong    database    postgres://127.0.0.1:1/kassa: "), "{nobody}");
    assert!(nobody.contains("kassa-server: postgres://127.0.0.1:1/kassa: "), "{nobody}");

    let database = kassa_test_postgres::shared().database();
    database.psql("CREATE TABLE recipes (id INTEGER)");
    assert_eq!(output_of(&with_password(&database.url())).matches("it is another program's").count(), 2);
    assert_eq!(database.psql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "1", "nothing was made");
    let newer = kassa_test_postgres::shared().database();
    let place = place(sandbox.url(), &newer.url());
    assert_eq!(place.run(&["keys", "new", "--name", "shop"]).code, Some(0));
    newer.psql("INSERT INTO kassa_schema (version, oldest_program) VALUES (99, 99)");
    assert_eq!(output_of(&newer.url()).matches("the database is of version 99").count(), 2);
}

#[test]
fn postgres_only_setting_with_sqlite_is_reported() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let checked = place.run(&["check", "--database-connections", "4"]);
    assert!(
        checked.out.contains("database_connections applies only to PostgreSQL: database names a file"),
        "{checked:?}"
    );
}
