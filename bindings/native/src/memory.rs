//! Messages in memory of the caller's: a call before, and what it ended with after. A call is wiped when it is read, because there may be
//! secrets in it.
//!
//! Addresses and lengths have 64 bits on every machine, as the JVM's `long`. Numbers in messages begin with the highest byte, as
//! UniFFI's do.

use kassa::_calls::{AsyncCall, Completion};

/// The number and the status of a completion in a queue, before its value.
const HEAD: usize = 16;

/// The address and the capacity of a value that is elsewhere.
const ADDRESS: usize = 16;

/// Memory of the caller's, for the time of one call into the library.
pub struct Memory<'a> {
    bytes: &'a mut [u8],
    written: usize,
}

impl Memory<'_> {
    /// # Safety
    /// There is that much memory, initialised and used by nobody else.
    pub unsafe fn new(address: u64, capacity: u64) -> Self {
        // SAFETY: validity and exclusive access, as the caller says.
        let bytes = unsafe { std::slice::from_raw_parts_mut(address as usize as *mut u8, capacity as usize) };
        Self { bytes, written: 0 }
    }

    /// Reads a call of so many bytes, and wipes it.
    pub fn read(&mut self, length: u64) -> Result<AsyncCall, Completion> {
        let message = &mut self.bytes[..length as usize];
        let call = AsyncCall::read(message);
        message.fill(0);
        call
    }

    /// Writes what a call ended with, and answers with its status: the code in the lowest byte, the length of the value in the others.
    /// A value that is longer than all of the memory is left where it is, for [`free`], and its address is written.
    pub fn write(&mut self, completion: Completion) -> i64 {
        let status = status(&completion);
        self.put(completion.value, self.bytes.len());
        status
    }

    /// Adds a completion of a queue, behind its number and its status. It is given back where there is not enough memory left.
    pub fn add(&mut self, number: u64, completion: Completion) -> Result<(), Completion> {
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
        Ok(())
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
    (completion.value.len() as i64) << 8 | completion.code as i64
}

/// Frees a value that was longer than the caller's memory.
///
/// # Safety
/// The address and the capacity are those that stood in the memory, and are given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_free(address: u64, capacity: u64) {
    // SAFETY: ownership. These are the parts of a vector that `Memory::put` left to the caller, who gives them back once; what is in
    // it are bytes, which need not be dropped.
    drop(unsafe { Vec::from_raw_parts(address as usize as *mut u8, 0, capacity as usize) });
}
