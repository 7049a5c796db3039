//! What goes wrong between servers and a database that is not in their own process.

use std::{thread, time::Duration};

use crate::{fleet::Ways, keeper::Keeper, play::Play};

/// A server that hears nothing for so long is no longer whose it was.
const PARTED: Duration = Duration::from_secs(22);

/// Something of it goes wrong.
pub fn strike(play: &mut Play, may_restart: bool) {
    let scene = play.scene.clone();
    let Keeper::Fleet(fleet) = &scene.keeper else { return };
    let (server, count) = (play.random.usize(0..2), play.random.u64(1..4));
    let what = match (play.random.u32(0..10), &fleet.ways) {
        (0 | 1, _) => {
            fleet.ends_connections();
            "pg_terminate_backend"
        }
        // A link of the kernel's knows no messages: nothing of this happens there.
        (2..=6, Ways::Links(_)) => return,
        (2 | 3, Ways::Lines(lines)) => {
            lines[server].loses_answers(count);
            "answers to commits will be lost"
        }
        (4 | 5, Ways::Lines(lines)) => {
            lines[server].loses_commits(count);
            "commits will be lost"
        }
        (6, Ways::Lines(lines)) => {
            lines[server].breaks();
            "the line breaks"
        }
        (7, _) if may_restart => {
            restart(play);
            return;
        }
        _ => {
            let time = Duration::from_millis(play.random.u64(50..1_500));
            part(play, server, time);
            return;
        }
    };
    scene.story.tell(format!("{what}, for server {server}"));
    play.meet(what);
}

/// The primary stops as by a power cut, and recovers.
pub fn restart(play: &mut Play) {
    let scene = play.scene.clone();
    let Keeper::Fleet(fleet) = &scene.keeper else { return };
    fleet.cluster.crash_and_recover();
    scene.story.tell("the primary restarts");
    play.meet("the primary restarts");
}

/// Nothing gets through to a server for longer than its leases last.
pub fn part_past_the_lease(play: &mut Play, server: usize) {
    play.meet("partition past the lease");
    part(play, server, PARTED);
}

/// Others go on meanwhile.
fn part(play: &mut Play, server: usize, time: Duration) {
    let scene = play.scene.clone();
    let partition = match &scene.keeper {
        Keeper::Fleet(fleet) => fleet.partition(),
        Keeper::File(_) => return,
    };
    play.meet(partition);
    play.meanwhile(move || {
        let Keeper::Fleet(fleet) = &scene.keeper else { return };
        scene.story.tell(format!("{partition}, of server {server} for {time:?}"));
        fleet.part(server);
        thread::sleep(time);
        fleet.heal(server);
        scene.story.tell(format!("server {server}: a partition is over"));
    });
}

/// What got lost on lines. On links, nothing does for good.
pub fn count(play: &mut Play) {
    let scene = play.scene.clone();
    let Keeper::Fleet(fleet) = &scene.keeper else { return };
    let Ways::Lines(lines) = &fleet.ways else { return };
    for (commits, answers) in lines.iter().map(|line| line.met()) {
        *play.met.entry("a commit got lost".to_owned()).or_default() += commits;
        *play.met.entry("a commit's answer got lost".to_owned()).or_default() += answers;
    }
}
