//! Messages in the caller's memory: first a call, then its completion. A call is wiped when it is read, because it may contain secrets.
//!
//! Addresses and lengths have 64 bits on every machine, as the JVM's `long`. Numbers in messages begin with the highest byte, as
//! UniFFI's do.

use kassa::_calls::{AsyncCall, Completion, Untaken};

/// The size of the number and the status of a completion in a queue, before its value.
const HEAD: usize = 16;

/// The size of the address and the capacity of a value that is elsewhere.
const ADDRESS: usize = 16;

/// A flag in a status, in addition to the code: the caller must report whether it received the completion.
const IS_TO_BE_RECEIVED: i64 = 0x80;

/// The caller's memory, for the time of one call into the library.
pub struct Memory<'a> {
    bytes: &'a mut [u8],
    written: usize,
}

impl Memory<'_> {
    /// # Safety
    /// There is that much memory, initialised and used by no one else.
    pub unsafe fn new(address: u64, capacity: u64) -> Self {
        // SAFETY: the caller guarantees validity and exclusive access.
        let bytes = unsafe { std::slice::from_raw_parts_mut(address as usize as *mut u8, capacity as usize) };
        Self { bytes, written: 0 }
    }

    /// Reads a call of this length, and wipes it.
    pub fn read(&mut self, length: u64) -> Result<AsyncCall, Completion> {
        let message = &mut self.bytes[..length as usize];
        let call = AsyncCall::read(message);
        message.fill(0);
        call
    }

    /// Writes a completion, and returns its status: the code in the lower seven bits of the lowest byte, in its highest bit whether
    /// something must be done if no caller receives it, and the length of the value in the other bytes. A value that is longer than the
    /// whole memory stays in place, for [`kassa_free`], and its address is written.
    pub fn write(&mut self, completion: Completion) -> (i64, Option<Untaken>) {
        let status = status(&completion);
        self.put(completion.value, self.bytes.len());
        (status, completion.untaken)
    }

    /// Adds a completion of a queue, after its number and its status. It is returned if there is not enough memory left.
    pub fn add(&mut self, number: u64, completion: Completion) -> Result<Option<Untaken>, Completion> {
        let longest = self.bytes.len() - HEAD;
        let size = if completion.value.len() > longest { ADDRESS } else { completion.value.len() };
        if self.bytes.len() - self.written < HEAD + size {
            return Err(completion);
        }
        for number in [number, status(&completion) as u64] {
            self.bytes[self.written..][..8].copy_from_slice(&number.to_be_bytes());
            self.written += 8;
        }
        self.put(completion.value, longest);
        Ok(completion.untaken)
    }

    /// How much was written.
    pub fn written(&self) -> i64 {
        self.written as i64
    }

    fn put(&mut self, value: Vec<u8>, longest: usize) {
        if value.len() <= longest {
            self.bytes[self.written..][..value.len()].copy_from_slice(&value);
            self.written += value.len();
        } else {
            let value = std::mem::ManuallyDrop::new(value);
            for number in [value.as_ptr() as u64, value.capacity() as u64] {
                self.bytes[self.written..][..8].copy_from_slice(&number.to_be_bytes());
                self.written += 8;
            }
        }
    }
}

fn status(completion: &Completion) -> i64 {
    let receipt = if completion.untaken.is_some() { IS_TO_BE_RECEIVED } else { 0 };
    (completion.value.len() as i64) << 8 | receipt | completion.code as i64
}

/// Releases the objects in an incomplete message that is not handed over, because writing the rest of it failed. The message is wiped.
///
/// # Safety
/// There is that much memory, initialised and used by no one else; the objects that it names are handed over with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_discard(memory: u64, length: u64) {
    // SAFETY: the caller guarantees it.
    let mut memory = unsafe { Memory::new(memory, length) };
    // Reading takes over the objects, up to the end of the message, and drops them with everything it has read.
    drop(memory.read(length));
}

/// Frees a value that was longer than the caller's memory.
///
/// # Safety
/// The address and the capacity are those that were written into the memory, and are passed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_free(address: u64, capacity: u64) {
    // SAFETY: ownership. These are the parts of a vector that `Memory::put` left to the caller, which returns them once; it contains bytes,
    // which need not be dropped.
    drop(unsafe { Vec::from_raw_parts(address as usize as *mut u8, 0, capacity as usize) });
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kassa::_calls::CompletionCode;

    use super::*;
    use crate::testing::{elsewhere, gateway, nonsense, pay, query};

    fn memory(bytes: &mut [u8]) -> Memory<'_> {
        // SAFETY: the memory is borrowed for as long.
        unsafe { Memory::new(bytes.as_mut_ptr() as u64, bytes.len() as u64) }
    }

    fn completion(value: &[u8]) -> Completion {
        Completion::new(CompletionCode::Error, value.to_vec())
    }

    fn numbers<const COUNT: usize>(bytes: &[u8]) -> [u64; COUNT] {
        std::array::from_fn(|at| u64::from_be_bytes(bytes[8 * at..][..8].try_into().unwrap()))
    }

    #[test]
    fn call_is_wiped_when_it_is_read_and_nothing_else_is() {
        let (_fake, gateway) = gateway();
        for (message, is_call) in [(query(&gateway), true), (nonsense(), false)] {
            let mut bytes = [&message[..], b"rest"].concat();
            assert_eq!(memory(&mut bytes).read(message.len() as u64).is_ok(), is_call);
            assert!(bytes[..message.len()].iter().all(|byte| *byte == 0));
            assert_eq!(bytes[message.len()..], *b"rest");
        }
    }

    #[test]
    fn begun_message_gives_its_objects_back() {
        let (_fake, gateway) = gateway();
        for missing in [0, 1, 20] {
            let mut message = pay(&gateway);
            assert_eq!(Arc::strong_count(&gateway), 2);
            message.truncate(message.len() - missing);
            // SAFETY: the memory is borrowed for as long, and the object in it is handed over.
            unsafe { kassa_discard(message.as_mut_ptr() as u64, message.len() as u64) };
            assert!(message.iter().all(|byte| *byte == 0));
            assert_eq!(Arc::strong_count(&gateway), 1);
        }
    }

    #[test]
    fn status_says_what_is_to_be_received() {
        let mut once = completion(&[7; 3]);
        once.untaken = Some(Box::new(|| {}));
        let mut bytes = [0; 20];
        let (status, untaken) = memory(&mut bytes).write(once);
        assert_eq!(status, 3 << 8 | 0x80 | 1);
        assert!(untaken.is_some());
    }

    #[test]
    fn value_may_be_as_long_as_the_memory() {
        for length in [0, 1, 20] {
            let mut bytes = [0; 20];
            assert_eq!(memory(&mut bytes).write(completion(&vec![7; length])).0, (length as i64) << 8 | 1);
            assert_eq!(bytes.iter().filter(|byte| **byte == 7).count(), length);
        }
    }

    #[test]
    fn longer_value_goes_by_its_address() {
        let mut bytes = [0; 20];
        assert_eq!(memory(&mut bytes).write(completion(&[7; 21])).0, 21 << 8 | 1);
        // SAFETY: the value is freed below, once.
        unsafe {
            let (value, address, capacity) = elsewhere(&bytes, 21);
            assert_eq!(value, [7; 21]);
            kassa_free(address, capacity);
        }
    }

    #[test]
    fn completions_are_added_as_long_as_there_is_memory() {
        let mut bytes = [0; 100];
        let mut memory = memory(&mut bytes);
        assert!(memory.add(1, completion(&[])).is_ok());
        assert!(memory.add(2, completion(&[7; 35])).is_ok());
        assert_eq!(memory.written(), 16 + 16 + 35);
        let given_back = memory.add(3, completion(&[8; 18])).err().unwrap();
        assert_eq!(given_back.value, [8; 18]);
        assert_eq!(memory.written(), 16 + 16 + 35, "nothing is written of it");
        assert!(memory.add(3, completion(&[8; 17])).is_ok());
        assert_eq!(memory.written(), 100);
        assert_eq!(numbers(&bytes), [1, 1, 2, 35 << 8 | 1]);
        assert_eq!(bytes[32..67], [7; 35]);
        assert_eq!(numbers(&bytes[67..]), [3, 17 << 8 | 1]);
        assert_eq!(bytes[83..], [8; 17]);
    }

    #[test]
    fn completion_is_added_to_the_least_memory_whatever_its_length() {
        for length in [0, 16, 17, 5000] {
            let mut bytes = [0; 32];
            assert!(memory(&mut bytes).add(9, completion(&vec![7; length])).is_ok());
            assert_eq!(numbers(&bytes), [9, (length as u64) << 8 | 1]);
            if length > 16 {
                // SAFETY: the value is freed here, once.
                unsafe {
                    let (value, address, capacity) = elsewhere(&bytes[16..], length);
                    assert_eq!(value, vec![7; length]);
                    kassa_free(address, capacity);
                }
            } else {
                assert_eq!(bytes[16..][..length], vec![7; length]);
            }
        }
    }
}
