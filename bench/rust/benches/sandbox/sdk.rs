//! Whole payments through the SDK: created, confirmed, and queried.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use kassa::{Credentials, Gateway, GatewayConfig, MbankPayment, PaymentStatus, Provider};
use kassa_bench::{Figures, Sandbox, processor_time};
use tokio::runtime::Builder;

const PAYMENTS: u64 = 1_500;
/// Callers at the same time.
const CALLERS: usize = 16;

pub fn payments(title: &str, program: &Path, file: Option<&Path>) -> Figures {
    let sandbox = Sandbox::start(program, file);
    let config = GatewayConfig::new(&sandbox.url, Credentials::basic(&sandbox.login, &sandbox.password));
    let gateway = Gateway::new(config).expect("a gateway");
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let (started, sdk, gateways) = (Instant::now(), processor_time(), sandbox.processor_time());
    let next = Arc::new(AtomicU64::new(0));
    runtime.block_on(async {
        let callers: Vec<_> = (0..CALLERS).map(|_| tokio::spawn(pay(gateway.clone(), next.clone()))).collect();
        for caller in callers {
            caller.await.expect("every payment is charged");
        }
    });
    let took = started.elapsed();
    let (sdk, gateways) = (processor_time() - sdk, sandbox.processor_time() - gateways);
    let each = |time: Duration| format!("{:.0} us", time.as_secs_f64() * 1e6 / PAYMENTS as f64);
    let mut figures = Figures::new(format!("Payments through the SDK, {title}"));
    figures.add("payments a second", format!("{:.0}", PAYMENTS as f64 / took.as_secs_f64()));
    figures.add("processor time of each, in the sandbox", each(gateways));
    figures.add("processor time of each, in the SDK", each(sdk));
    let busy = (sdk + gateways).as_secs_f64() / took.as_secs_f64();
    figures.add("processors that both together kept busy", format!("{busy:.1}"));
    figures
}

async fn pay(gateway: Gateway, next: Arc<AtomicU64>) {
    loop {
        let number = next.fetch_add(1, Relaxed);
        if number >= PAYMENTS {
            return;
        }
        let order_number = format!("P-{number}");
        let payment = MbankPayment::new(order_number.clone(), 100, "996555000101", "tea");
        let created = gateway.create_mbank_payment(payment).await.expect("created");
        gateway.confirm_mbank_payment(&created.payment, "101101").await.expect("confirmed");
        let report = gateway.provider_status(&order_number, Provider::MBank).await.expect("a report");
        assert_eq!(report.status, PaymentStatus::Charged);
    }
}
