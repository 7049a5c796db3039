//! Calls for tests: of a gateway in memory, as another language writes and reads them.

use std::sync::Arc;

use kassa::{_calls::AsyncCall, FakeFault, FakeGateway, Gateway, MbankPayment, Provider};
use uniffi::{Lift, Lower};

/// A gateway in memory.
pub fn gateway() -> (FakeGateway, Arc<Gateway>) {
    let fake = FakeGateway::new().unwrap();
    let gateway = Arc::new(fake.gateway());
    (fake, gateway)
}

/// A gateway in memory whose next call continues until its clock is started.
pub fn gateway_without_response() -> (FakeGateway, Arc<Gateway>) {
    let (fake, gateway) = gateway();
    fake.stop_clock();
    fake.fail_next(FakeFault::NoResponse);
    (fake, gateway)
}

/// A payment.
pub fn pay(gateway: &Arc<Gateway>) -> Vec<u8> {
    let payment = MbankPayment::new("order-1", 100, "996555000101", "tea");
    message(AsyncCall::CreateMbankPayment { gateway: gateway.clone(), payment })
}

/// A query.
pub fn query(gateway: &Arc<Gateway>) -> Vec<u8> {
    let (order_number, provider) = ("order-1".to_owned(), Provider::MBank);
    message(AsyncCall::ProviderStatus { gateway: gateway.clone(), order_number, provider })
}

/// A message that cannot be read.
pub fn nonsense() -> Vec<u8> {
    i32::MAX.to_be_bytes().to_vec()
}

pub fn message(call: AsyncCall) -> Vec<u8> {
    let mut message = Vec::new();
    <AsyncCall as Lower<kassa::UniFfiTag>>::write(call, &mut message);
    message
}

pub fn read<T: Lift<kassa::UniFfiTag>>(value: &[u8]) -> T {
    let mut rest = value;
    let read = T::try_read(&mut rest).unwrap();
    assert!(rest.is_empty());
    read
}

/// The value at an address that the library wrote in place of the value, with the address and the capacity to free it.
///
/// # Safety
/// The value was not freed.
pub unsafe fn elsewhere<'a>(written: &[u8], length: usize) -> (&'a [u8], u64, u64) {
    let [address, capacity] = [0, 8].map(|at| u64::from_be_bytes(written[at..][..8].try_into().unwrap()));
    // SAFETY: validity. The value is at this address, as the caller says, and is that long.
    let value = unsafe { std::slice::from_raw_parts(address as usize as *const u8, length) };
    (value, address, capacity)
}
