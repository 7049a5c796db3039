//! The command line. Its flags for settings come from the table of settings.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    io::{self, Write},
    path::PathBuf,
    process,
    time::Duration,
};

use clap::{
    Arg, ArgAction, ArgGroup, ArgMatches, Command,
    error::{ContextKind, ContextValue},
    value_parser,
};
use kassa_server::{
    KeyRole, Permission, ProbePlan, ProbeStep,
    settings::{IfUnset, SETTINGS, Setting, Sources},
};

use super::output;

/// The command of the program.
pub(crate) enum Task {
    Serve(ServeOptions),
    Check,
    Probe(Box<ProbeOptions>),
    Rejudge(RejudgeOptions),
    NewKey { role: KeyRole, permission: Permission, name: String },
    ListKeys,
    RevokeKey { id: String },
    ReplayEvents { checkout: Option<String> },
    Secret,
}

/// Options for running the server.
pub(crate) struct ServeOptions {
    pub(crate) announce_json: bool,
    pub(crate) exit_with_stdin: bool,
}

/// The permissions of the probe, its test values, and the files for its results.
pub(crate) struct ProbeOptions {
    /// The host that a person named as a test environment.
    pub(crate) test_environment: Option<String>,
    pub(crate) says_yes: bool,
    pub(crate) plan: ProbePlan,
    pub(crate) dialect_file: Option<PathBuf>,
    pub(crate) report_file: Option<PathBuf>,
}

/// The input to judge again, the dialect, and the verdicts to compare with.
pub(crate) struct RejudgeOptions {
    /// A recording; `None` for the database of the settings.
    pub(crate) recording: Option<PathBuf>,
    /// The name of a known dialect, or a file.
    pub(crate) dialect: String,
    pub(crate) against: Option<String>,
    pub(crate) compare: Option<PathBuf>,
    pub(crate) write_verdicts: Option<PathBuf>,
    pub(crate) json: bool,
}

/// A parsed command line.
pub(crate) struct Call {
    pub(crate) task: Task,
    pub(crate) sources: Sources,
}

/// Reads the command line; ends the program if it is invalid, or requests help.
pub(crate) fn parse() -> Call {
    let matches = command().try_get_matches().unwrap_or_else(|answer| end(&answer));
    Call { task: task(&matches), sources: sources(&matches) }
}

/// Prints the help, the version or the error in the command line, and exits.
fn end(answer: &clap::Error) -> ! {
    let written = answer.print().and_then(|()| io::stdout().flush());
    if let Some(setting) = secret_of(answer) {
        output::note(format_args!(
            "\n{} is a secret, and has no flag: every user of a machine can read the flags of its programs. Set {}, or put it \
             into the settings file.",
            setting.name, setting.variable
        ));
    }
    process::exit(if written.is_ok() { answer.exit_code() } else { 1 })
}

/// The secret setting that was given as a flag.
fn secret_of(answer: &clap::Error) -> Option<&'static Setting> {
    let Some(ContextValue::String(flag)) = answer.get(ContextKind::InvalidArg) else { return None };
    let name = flag.strip_prefix("--")?.split('=').next()?;
    let is_it = |setting: &&Setting| setting.is_secret() && setting.name.replace(['.', '_'], "-") == name;
    SETTINGS.into_iter().find(is_it)
}

fn command() -> Command {
    Command::new("kassa-server")
        .version(env!("CARGO_PKG_VERSION"))
        .about(
            "The merchant's payment server: holds the gateway credentials, stores every payment before sending it, \
             polls it until it is final, and reports to the shop.",
        )
        .after_help(secrets())
        .subcommand_value_name("COMMAND")
        .args(SETTINGS.iter().filter_map(|setting| flag(setting)))
        .arg(
            Arg::new("config")
                .long("config")
                .value_name("FILE")
                .help("The settings file, in TOML [env: KASSA_SERVER_CONFIG]")
                .value_parser(value_parser!(PathBuf))
                .help_heading("Settings")
                .global(true),
        )
        .args(serve_options())
        .subcommands([
            Command::new("serve").about("Runs the server; the default without a command").args(serve_options()),
            Command::new("check")
                .about("Checks the settings and the database, and sends the gateway one harmless status query"),
            probe(),
            rejudge(),
            keys(),
            Command::new("events").about("Events to the shop").subcommand_required(true).subcommand(
                Command::new("replay")
                    .about("Delivers events again that the shop refused, or whose delivery was given up")
                    .arg(
                        Arg::new("checkout").long("checkout").value_name("ID").help("Only the events of this checkout"),
                    ),
            ),
            Command::new("secret").about("Prints a new signing secret for events"),
        ])
}

fn probe() -> Command {
    let text = |id: &'static str, long: &'static str, value: &'static str, help: &'static str| {
        Arg::new(id).long(long).value_name(value).help(help)
    };
    let yes = |id: &'static str, long: &'static str, help: &'static str| {
        Arg::new(id).long(long).action(ArgAction::SetTrue).help(help)
    };
    let file = |id: &'static str, long: &'static str, help: &'static str| {
        text(id, long, "FILE", help).value_parser(value_parser!(PathBuf))
    };
    Command::new("probe")
        .about("Runs every flow against the gateway's TEST environment, and finds the dialect that fits")
        .long_about(
            "Runs every flow against the gateway's TEST environment with published test values: the mobile bank, cards, the \
             pay-form, QR codes. Shows each response, masked, next to what the dialect reads in it; reports what is unread, \
             unknown or contradictory; and writes the dialect that fits. It creates and confirms payments, and asks before \
             each. It needs only the settings of the gateway, and uses no database. Exit code: 0 everything was read, 1 \
             something was not, 2 it could not run, 130 it was stopped by Ctrl-C.",
        )
        .args([
            text("test_environment", "test-environment", "HOST", "The host of gateway.url, a test environment [required]"),
            yes("yes", "yes", "Permits every payment in advance, for scripts; no pages are opened"),
            text("only", "only", "STEP,...", "Runs only these steps: mbank, card, pay-form, qr-image, qr")
                .value_delimiter(',')
                .value_parser(ProbeStep::all().into_iter().map(ProbeStep::name).collect::<Vec<_>>()),
            text("amount", "amount", "SOM", "The amount of each payment in whole som [default: 1]")
                .value_parser(value_parser!(i64).range(1..=1000)),
            text("phone", "phone", "PHONE", "The mobile bank's test phone [default: the published one]"),
            text("otp", "otp", "OTP", "Its one-time password [default: the published one]"),
            text("card", "card", "NUMBER", "A test card, instead of the published ones; can be repeated")
                .action(ArgAction::Append),
            text("callback_url", "callback-url", "URL", "Where callbacks go [default: a host that does not exist]"),
            text("return_url", "return-url", "URL", "Where payers return to [default: a host that does not exist]"),
            text("charged_word", "charged-word", "WORD", "A status word that you know to mean charged; can be repeated")
                .action(ArgAction::Append),
            text("rejected_word", "rejected-word", "WORD", "A status word that you know to mean rejected; can be repeated")
                .action(ArgAction::Append),
            text("wait", "wait", "SECONDS", "How long to poll a payment that must end [default: 60]")
                .value_parser(value_parser!(u64).range(0..=3600)),
            text("status_query", "status-query", "NUMBER", "Only queries the payment with this number; creates nothing"),
            file("write_dialect", "write-dialect", "Writes the dialect that fits into a new file, for gateway.dialect"),
            file("report", "report", "Writes a report in Markdown, without secrets, into a new file"),
        ])
}

fn rejudge() -> Command {
    let text = |id: &'static str, long: &'static str, value: &'static str, help: &'static str| {
        Arg::new(id).long(long).value_name(value).help(help)
    };
    let file = |id: &'static str, long: &'static str, help: &'static str| {
        text(id, long, "FILE", help).value_parser(value_parser!(PathBuf))
    };
    Command::new("rejudge")
        .about("Judges recorded responses of the gateway again, and lists each verdict that another dialect changes")
        .long_about(
            "Judges recorded responses of the gateway by a dialect, and lists each verdict that another dialect, or another \
             version of Kassa, changes, with its cause. Changes to or from charged come first. It reads a recording or, by \
             default, the responses in the server's database. It sends nothing and changes nothing. Exit code: 0 no verdict \
             changes, 1 a verdict changes, 2 the input cannot be read.",
        )
        .arg(Arg::new("recording").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
            "A recording of exchanges with the gateway [default: the database of the settings]",
        ))
        .args([
            text("dialect", "dialect", "NAME|FILE", "The dialect that judges the responses").required(true),
            text("against", "against", "NAME|FILE", "Another dialect: lists the verdicts that it changes"),
            file("compare", "compare", "Verdicts written by --write-verdicts earlier: lists what changed since then"),
            file("write_verdicts", "write-verdicts", "Writes the verdicts into a new file, one line each"),
            Arg::new("json").long("json").action(ArgAction::SetTrue).help("Prints the result as one JSON document"),
        ])
        .group(ArgGroup::new("comparison").args(["against", "compare"]))
        .group(ArgGroup::new("purpose").args(["against", "compare", "write_verdicts"]).required(true).multiple(true))
}

fn rejudge_options(rejudge: &ArgMatches) -> RejudgeOptions {
    let file = |id: &str| rejudge.get_one::<PathBuf>(id).cloned();
    RejudgeOptions {
        recording: file("recording"),
        dialect: text(rejudge, "dialect").unwrap_or_default(),
        against: text(rejudge, "against"),
        compare: file("compare"),
        write_verdicts: file("write_verdicts"),
        json: rejudge.get_flag("json"),
    }
}

fn probe_options(probe: &ArgMatches) -> ProbeOptions {
    let usual = ProbePlan::default();
    let all = |id: &str| -> Vec<String> { probe.get_many::<String>(id).unwrap_or_default().cloned().collect() };
    let steps: Vec<ProbeStep> = all("only").iter().filter_map(|name| name.parse().ok()).collect();
    let cards = all("card");
    let plan = ProbePlan {
        steps: if steps.is_empty() { usual.steps } else { steps },
        amount_som: probe.get_one("amount").copied().unwrap_or(usual.amount_som),
        phone: text(probe, "phone").unwrap_or(usual.phone),
        otp: text(probe, "otp").unwrap_or(usual.otp),
        cards: if cards.is_empty() { usual.cards } else { cards },
        callback_url: text(probe, "callback_url").unwrap_or(usual.callback_url),
        return_url: text(probe, "return_url").unwrap_or(usual.return_url),
        charged_words: all("charged_word"),
        rejected_words: all("rejected_word"),
        status_query: text(probe, "status_query"),
        patience: probe.get_one("wait").copied().map_or(usual.patience, Duration::from_secs),
        pause: usual.pause,
        secrets: usual.secrets,
    };
    ProbeOptions {
        test_environment: text(probe, "test_environment"),
        says_yes: probe.get_flag("yes"),
        plan,
        dialect_file: probe.get_one("write_dialect").cloned(),
        report_file: probe.get_one("report").cloned(),
    }
}

fn keys() -> Command {
    let name = Arg::new("name").long("name").value_name("TEXT").required(true).help("A name for people");
    let id = Arg::new("id").value_name("ID").required(true).help("Its identifier, as `keys list` shows it");
    let role = Arg::new("for")
        .long("for")
        .value_name("WHOM")
        .value_parser(["shop", "staff"])
        .default_value("shop")
        .help("A shop's back end, or a person who logs in at /staff by this name");
    let permission = Arg::new("permission")
        .long("permission")
        .value_name("WHAT")
        .value_parser(["view", "decide"])
        .default_value("decide")
        .help("What a person of the staff may do: read everything, or also decide");
    Command::new("keys").about("API keys of the shop and keys of the staff").subcommand_required(true).subcommands([
        Command::new("new").about("Creates a key and prints it once").arg(name).arg(role).arg(permission),
        Command::new("list").about("Lists all keys, without their secrets"),
        Command::new("revoke").about("Revokes a key, immediately and permanently").arg(id),
    ])
}

fn serve_options() -> [Arg; 2] {
    [
        Arg::new("announce")
            .long("announce")
            .value_name("FORM")
            .value_parser(["text", "json"])
            .default_value("text")
            .help("How to print the addresses: for people, or as one line of JSON"),
        Arg::new("exit_with_stdin")
            .long("exit-with-stdin")
            .action(ArgAction::SetTrue)
            .help("Stop when standard input ends, for example because the parent process ended"),
    ]
}

/// The flag of a setting that has one. It can stand before and after the command.
fn flag(setting: &'static Setting) -> Option<Arg> {
    let default = match setting.if_unset {
        IfUnset::Value(text) => format!(" [default: {text}]"),
        IfUnset::Nothing(meaning) => format!(" [default: {}]", meaning.replace('`', "")),
        IfUnset::Needed => " [needed]".to_owned(),
    };
    let help = format!("{}{default} [env: {}]", setting.meaning.replace('`', ""), setting.variable);
    let flag = Arg::new(setting.name).long(setting.flag?).value_name(setting.value).help(help);
    Some(flag.value_parser(value_parser!(OsString)).help_heading("Settings").global(true))
}

fn secrets() -> String {
    let secrets = SETTINGS.iter().filter(|setting| setting.is_secret());
    let lines =
        secrets.map(|setting| format!("\n  {:<18} {}\n      {}", setting.name, setting.variable, setting.meaning));
    format!("Secrets, only in the settings file or the environment:{}", lines.collect::<String>())
}

fn sources(matches: &ArgMatches) -> Sources {
    // A global flag is known to the innermost command.
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    let given = SETTINGS.iter().filter(|setting| setting.flag.is_some());
    let flags: BTreeMap<_, _> =
        given.filter_map(|one| Some((one.name, innermost.get_one::<OsString>(one.name)?.clone()))).collect();
    let by_variable = || env::var_os("KASSA_SERVER_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from);
    let file = innermost.get_one("config").cloned().or_else(by_variable);
    Sources { file, flags, ..Sources::of_environment() }
}

fn task(matches: &ArgMatches) -> Task {
    match matches.subcommand() {
        Some(("check", _)) => Task::Check,
        Some(("probe", probe)) => Task::Probe(Box::new(probe_options(probe))),
        Some(("rejudge", rejudge)) => Task::Rejudge(rejudge_options(rejudge)),
        Some(("keys", keys)) => match keys.subcommand() {
            Some(("new", new)) => Task::NewKey {
                role: role(new),
                permission: permission(new),
                name: text(new, "name").unwrap_or_default(),
            },
            Some(("revoke", revoke)) => Task::RevokeKey { id: text(revoke, "id").unwrap_or_default() },
            _ => Task::ListKeys,
        },
        Some(("events", events)) => {
            let checkout = events.subcommand().and_then(|(_, replay)| text(replay, "checkout"));
            Task::ReplayEvents { checkout }
        }
        Some(("secret", _)) => Task::Secret,
        Some((_, serve)) => Task::Serve(options(&[matches, serve])),
        None => Task::Serve(options(&[matches])),
    }
}

fn role(new: &ArgMatches) -> KeyRole {
    if text(new, "for").is_some_and(|role| role == "staff") { KeyRole::Staff } else { KeyRole::Shop }
}

fn permission(new: &ArgMatches) -> Permission {
    if text(new, "permission").is_some_and(|permission| permission == "view") {
        Permission::View
    } else {
        Permission::Decide
    }
}

/// The options, given before the command or after it.
fn options(matches: &[&ArgMatches]) -> ServeOptions {
    let is_json = |matches: &&ArgMatches| text(matches, "announce").is_some_and(|form| form == "json");
    ServeOptions {
        announce_json: matches.iter().any(is_json),
        exit_with_stdin: matches.iter().any(|matches| matches.get_flag("exit_with_stdin")),
    }
}

fn text(matches: &ArgMatches, id: &str) -> Option<String> {
    matches.get_one::<String>(id).cloned()
}
