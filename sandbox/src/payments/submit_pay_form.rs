//! What the payer chose on the hosted form: a card or a wallet.

use crate::{
    domain::{
        PaymentStatus, Provider,
        test_data::{TestCard, TestOutcome, TestPhone, ThreeDs},
    },
    payments::resolve::resolve,
    redact::mask,
    state::State,
    store::{
        StoreError,
        payments::{self, Record},
    },
};

/// Whom the payer pays by.
#[derive(Clone, Copy)]
pub(crate) enum Payer {
    Card(&'static TestCard),
    Wallet(&'static TestPhone),
}

/// Notes the choice; a card without a confirmation page is resolved at once.
/// A payer may choose again while nothing is decided, with the attempts that are left.
pub(crate) fn submit_pay_form(state: &State, id: i64, payer: Payer) -> Result<Record, StoreError> {
    let three_ds_1_page = state.switches().three_ds_1_page;
    state.write(|transaction| {
        let record = payments::by_id(transaction, id)?;
        if record.payment.status != PaymentStatus::Created {
            return Ok(record);
        }
        match payer {
            Payer::Card(card) => {
                let masked = mask::card(card.pan);
                payments::set_payer(transaction, id, Provider::Cards, Some(&masked), None)?;
            }
            Payer::Wallet(phone) => {
                let masked = mask::phone(phone.phone);
                payments::set_payer(transaction, id, phone.provider, None, Some(&masked))?;
            }
        }
        let record = payments::by_id(transaction, id)?;
        match resolves_at_once(payer, three_ds_1_page) {
            Some(outcome) => resolve(state, transaction, record, outcome.event()),
            None => Ok(record),
        }
    })
}

fn resolves_at_once(payer: Payer, three_ds_1_page: bool) -> Option<TestOutcome> {
    match payer {
        Payer::Card(card) if !has_confirmation_page(card, three_ds_1_page) => Some(card.outcome),
        _ => None,
    }
}

/// Whether a card's payer is asked for a one-time password.
pub(crate) fn has_confirmation_page(card: &TestCard, three_ds_1_page: bool) -> bool {
    match card.three_ds {
        ThreeDs::V2 => true,
        ThreeDs::V1 => three_ds_1_page,
        ThreeDs::None => false,
    }
}
