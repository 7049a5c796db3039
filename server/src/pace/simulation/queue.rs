//! One class of questions by when they are due (calendar queue). An entry is stale where its payment is due at another time by now:
//! it is left where it is, and skipped when its time comes.

use super::{Step, payments::Payments};

pub(super) struct Queue {
    class: u8,
    /// How many steps share a slot.
    width: Step,
    slots: Vec<Vec<u32>>,
    /// The first slot that may hold anything, and the place in it.
    slot: usize,
    place: usize,
    /// What was taken and put back, the next one last.
    back: Vec<u32>,
}

impl Queue {
    pub(super) fn new(class: u8, width: Step, end: Step) -> Self {
        Self { class, width, slots: vec![Vec::new(); (end / width) as usize + 1], slot: 0, place: 0, back: Vec::new() }
    }

    pub(super) fn push(&mut self, id: u32, due: Step) {
        let slot = ((due / self.width) as usize).max(self.slot);
        // What is due after the end is asked about after the end.
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.push(id);
        }
    }

    /// The one that is due for the longest, where one is due; it stays.
    pub(super) fn first(&mut self, step: Step, payments: &Payments) -> Option<u32> {
        while let Some(id) = self.back.last() {
            if payments.class[*id as usize] == self.class && payments.due[*id as usize] <= step {
                return Some(*id);
            }
            self.back.pop();
        }
        while self.slot as Step * self.width <= step {
            let slot = self.slots.get_mut(self.slot)?;
            if let Some(id) = slot.get(self.place) {
                let (due, class) = (payments.due[*id as usize], payments.class[*id as usize]);
                // A class of hints has everything at the moment it was hinted at.
                if class == self.class && due <= step && due / self.width <= self.slot as Step {
                    return Some(*id);
                }
                if class == self.class && due > step && due / self.width == self.slot as Step {
                    return None;
                }
                self.place += 1;
            } else if (self.slot as Step + 1) * self.width <= step {
                *slot = Vec::new();
                self.slot += 1;
                self.place = 0;
            } else {
                return None;
            }
        }
        None
    }

    /// Back to where it was taken from.
    pub(super) fn put_back(&mut self, id: u32) {
        self.back.push(id);
    }

    pub(super) fn pop(&mut self, step: Step, payments: &Payments) -> Option<u32> {
        let first = self.first(step, payments)?;
        if self.back.pop().is_none() {
            self.place += 1;
        }
        Some(first)
    }
}
