//! A dynamic QR code: drawn here, or saved as the gateway's own picture; then its payment is followed.

use std::{fs, path::Path};

use kassa::{Decimal, PaymentError, QrPayment};

use super::{Beginning, Flow};
use crate::{
    args::QrArgs,
    failure::Failure,
    json_output, qr_drawing,
    report::{Outcome, Report},
    robot,
    setup::Checkout,
};

/// What the robot pays where the payer names the amount.
const OPEN_AMOUNT: &str = "42.50";

/// Runs it.
pub(crate) async fn run(shop: &Checkout, args: &QrArgs) -> Result<Report, Failure> {
    let reference = kassa::new_order_number();
    let som = amount(args)?;
    let mut payment = match som {
        Some(som) => QrPayment::new(kassa::som_to_tyiyn(som)?),
        None => QrPayment::of_open_amount(),
    }
    .with_entry_id(&reference);
    payment.requisite = Some(args.requisite.clone()).filter(|requisite| !requisite.is_empty());
    payment.callback_url = shop.callback_url(&reference).filter(|_| !args.no_callback);
    let shown = match (som, payment.sum_tyiyn) {
        (Some(som), Some(tyiyn)) => format!("{som} KGS ({tyiyn} tyiyn)"),
        _ => "an amount that the payer names".to_owned(),
    };
    shop.narrator.step("request", &format!("a QR code for {shown}, our reference {reference}"));
    let mut flow = Flow::begin(
        shop,
        Beginning {
            flow: "qr",
            reference,
            payment: payment.payment_ref(),
            awaits_callback: payment.callback_url.is_some(),
        },
    )?;
    let page = match &args.image {
        Some(file) => picture(&mut flow, payment, file).await,
        None => data(&mut flow, payment).await,
    };
    let page = match page {
        Ok(page) => page,
        Err(error) => {
            flow.failed(error);
            return Ok(flow.not_made().await);
        }
    };
    if args.no_wait {
        return Ok(flow.left_open(Outcome::Created).await);
    }
    match page {
        Some(page) => pay(&flow, args, &page, som.is_none()).await,
        None => flow.narrator.step("payer", "scan the picture with a phone"),
    }
    Ok(flow.follow().await)
}

fn amount(args: &QrArgs) -> Result<Option<Decimal>, Failure> {
    if args.amount == "open" {
        return Ok(None);
    }
    let amount = Decimal::from_str_exact(&args.amount);
    amount.map(Some).map_err(|_| Failure::Usage("--amount must be a decimal number of som, or `open`".to_owned()))
}

/// Asks for the data and draws the code. The text in it is the link that a phone opens.
async fn data(flow: &mut Flow<'_>, payment: QrPayment) -> Result<Option<String>, PaymentError> {
    let data = flow.gateway.create_qr_data(payment).await?;
    flow.answered(json_output::qr_data(&data), Some(data.payment.clone()));
    let Some(payload) = data.payload else {
        flow.narrator.warn(
            "gateway",
            "the response holds no QR payload that the dialect finds; it is kept as `raw` with --json",
        );
        return Ok(None);
    };
    let id = data.transaction_id.as_deref().unwrap_or("not named");
    flow.narrator.step("gateway", &format!("transaction {id}; the code to scan:"));
    qr_drawing::draw(&flow.narrator, &payload)?;
    Ok(Some(payload))
}

/// Asks for the picture and saves it. It names no transaction.
async fn picture(flow: &mut Flow<'_>, payment: QrPayment, file: &Path) -> Result<Option<String>, PaymentError> {
    let image = flow.gateway.create_qr_image(payment).await?;
    flow.answered(json_output::qr_image(&image, file), Some(image.payment.clone()));
    match fs::write(file, &image.png) {
        Ok(()) => flow.narrator.step("gateway", &format!("its picture, 400x400, is in {}", file.display())),
        Err(error) => {
            flow.narrator.warn("gateway", &format!("its picture cannot be saved in {}: {error}", file.display()))
        }
    }
    Ok(None)
}

async fn pay(flow: &Flow<'_>, args: &QrArgs, page: &str, names_amount: bool) {
    let amount = names_amount.then_some(OPEN_AMOUNT);
    let story = if args.decline { "scans the code and declines" } else { "scans the code with a phone and approves" };
    let forms = vec![robot::qr_form(args.decline, amount)];
    flow.shop.payer.go(&flow.narrator, page, story, Some(forms)).await;
}
