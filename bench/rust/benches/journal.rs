//! The journal: what a payment takes more with one, beside two bare writes that are flushed; and the listing of many.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::Path,
    time::Instant,
};

use kassa::{BlockingGateway, FakeGateway, Journal, MbankPayment};
use kassa_bench::{Comparison, Counting, Figures, counts, in_turn, microseconds};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ROUNDS: usize = 51;
const TIMES: u32 = 20;
/// A folder in memory, where flushing costs nothing: for making many entries.
const IN_MEMORY: &str = "/dev/shm";

fn main() {
    let folder = std::env::args().nth(1).expect("usage: journal FOLDER");
    creating(Path::new(&folder));
    listing(Path::new(&folder));
}

fn creating(folder: &Path) {
    let fake = FakeGateway::new().expect("a gateway in memory");
    let bare = BlockingGateway::from(fake.gateway());
    let journal = Journal::open(folder.join("creating")).expect("a folder");
    let journaled = bare.with_journal(journal);
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join("bare")).expect("a file");
    let line = [b'x'; 200];
    let more = move || microseconds(TIMES, || create(&journaled)) - microseconds(TIMES, || create(&bare));
    let two_pairs = move || {
        microseconds(TIMES, || {
            for _ in 0..2 {
                file.write_all(&line).expect("room on the disk");
                file.sync_data().expect("a disk that flushes");
            }
        })
    };
    let (new_files, mut number) = (folder.join("new"), 0);
    fs::create_dir_all(&new_files).expect("a folder");
    let own_file = move || {
        microseconds(TIMES, || {
            number += 1;
            let mut file = fs::File::create_new(new_files.join(format!("{number}"))).expect("a name of its own");
            file.write_all(&line).expect("room on the disk");
            file.sync_all().expect("a disk that flushes");
            fs::File::open(&new_files).and_then(|folder| folder.sync_all()).expect("a folder that is flushed");
        })
    };
    Comparison {
        title: "What the creation of a payment takes more".to_owned(),
        unit: "us",
        samples: in_turn(
            ROUNDS,
            vec![
                ("Kassa's journal", Box::new(more)),
                ("two bare writes, flushed", Box::new(two_pairs)),
                ("the floor: a bare file of its own, flushed with its folder", Box::new(own_file)),
            ],
        ),
        bars: vec![("two bare writes, flushed", 1.0)],
        facts: Vec::new(),
    }
    .print();
}

fn create(gateway: &BlockingGateway) {
    let payment = MbankPayment::new(kassa::new_order_number(), 250, "996700000001", "Tea");
    gateway.create_mbank_payment(payment).expect("the gateway in memory takes it");
}

fn listing(folder: &Path) {
    for entries in [1_000, 10_000, 100_000] {
        let place = folder.join(format!("listing-{entries}"));
        make(entries, &place);
        list(entries, &place);
    }
}

fn make(entries: u32, place: &Path) {
    let work = Path::new(IN_MEMORY).join(format!("kassa-bench-{}", std::process::id()));
    let journal = Journal::open(&work).expect("a folder");
    // The gateway in memory looks a number up among all that it has.
    for _ in 0..entries / 1_000 {
        let fake = FakeGateway::new().expect("a gateway in memory");
        let gateway = BlockingGateway::from(fake.gateway()).with_journal(journal.clone());
        (0..1_000).for_each(|_| create(&gateway));
    }
    copy(&work, place);
    fs::remove_dir_all(&work).expect("it was made just now");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("room on the disk");
        }
    }
}

fn list(entries: u32, place: &Path) {
    let journal = Journal::open(place).expect("a journal");
    let (started, held) = (Instant::now(), counts().held);
    let (mut first, mut most) = (None, 0);
    let mut found = 0;
    for item in journal.unfinished() {
        item.expect("an entry that can be read");
        first.get_or_insert_with(|| started.elapsed());
        found += 1;
        most = most.max(counts().held.saturating_sub(held));
    }
    let all = started.elapsed();
    assert_eq!(found, entries, "all of them are listed");
    let ms = |figure: f64| format!("{figure:.1} ms");
    let mut figures = Figures::new(format!("{entries} that are unfinished"));
    let first = first.unwrap_or_default().as_secs_f64() * 1e3;
    if entries == 100_000 {
        figures.add_with_bar("the first is there after", first, 50.0, ms);
        figures.add_with_bar("all of them after", all.as_secs_f64() * 1e3, 3_000.0, ms);
    } else {
        figures.add("the first is there after", ms(first));
        figures.add("all of them after", ms(all.as_secs_f64() * 1e3));
    }
    let kib = |figure: f64| format!("{figure:.0} KiB");
    figures.add_with_bar("memory while they are gone through, at most", most as f64 / 1024.0, 2_048.0, kib);
    figures.print();
}
