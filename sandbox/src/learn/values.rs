//! The places of numbers, amounts, currencies, pages, pictures and codes, found by the values of the request or of a later request.

use base64::{Engine, engine::general_purpose::STANDARD};
use rust_decimal::Decimal;
use strum::VariantArray;

use super::{
    Learner,
    answers::{NUMBERS, QR_NUMBERS},
    candidates::{Candidate, Rule, candidates},
    endpoint::{Endpoint, Field, FieldOf, Role},
    exchanges::{Observed, Payment, Value},
    report::{At, Finding, OpenPoint},
    status_place::SHOWN,
};

const TWO_PAYMENTS: &str = "record a second payment of another amount at this endpoint, and query it";
/// The signature of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// ISO 4217 numbers of currencies in the region.
const CURRENCY_NUMBERS: [(&str, &str); 5] =
    [("KGS", "417"), ("USD", "840"), ("EUR", "978"), ("RUB", "643"), ("KZT", "398")];

/// The unit of amounts in QR responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Unit {
    Som,
    Tyiyn,
}

impl Learner<'_> {
    pub(super) fn learn_values(&mut self) {
        for endpoint in Endpoint::VARIANTS.iter().copied() {
            self.learn_amount(endpoint);
            self.learn_currency(endpoint);
            self.learn_order_number(endpoint);
            self.learn_gateway_number(endpoint);
        }
        self.learn_pages();
        self.learn_picture();
        self.learn_qr_code();
        self.learn_identifier();
        self.learn_qr_numbers();
        self.learn_callbacks();
        self.learn_unit();
    }

    fn learn_amount(&mut self, endpoint: Endpoint) {
        if !endpoint.has(Field::Amount) {
            return;
        }
        let field = FieldOf(endpoint, Field::Amount);
        let exchanges = self.exchanges;
        let factor = |factor: Decimal| {
            move |seen: &Observed, value: &Value| {
                let amount = exchanges.payment(seen).amount?;
                Some(value.decimal()? == amount.checked_mul(factor)?)
            }
        };
        let mut found = candidates(exchanges.read_at(endpoint), factor(Decimal::ONE));
        let in_tyiyn = candidates(exchanges.read_at(endpoint), factor(Decimal::ONE_HUNDRED));
        let rule = Rule { values: 2, because: "the requested amount", payment: TWO_PAYMENTS };
        if endpoint.is_qr() {
            found.extend(in_tyiyn.iter().cloned());
        }
        // A place that is zero first and the amount later may be the paid amount, which the other place does not show.
        let is_paid = |candidate: &&Candidate| !candidate.differs.is_empty() && candidate.differs_by_zero;
        let paid: Vec<Candidate> = found.iter().filter(is_paid).cloned().collect();
        if Endpoint::QUERIES.contains(&endpoint) && !paid.is_empty() && !self.answers.places.contains_key(&field) {
            let whole = found.iter().filter(|candidate| candidate.differs.is_empty()).cloned();
            let all: Vec<Candidate> = whole.chain(paid).collect();
            self.report_ambiguous(field, &all, "the requested amount, some after zero: which one is the paid amount?");
            return;
        }
        if endpoint.is_qr() {
            self.settle(field, found, &rule);
            return;
        }
        let chosen = self.settle(field, found.clone(), &rule);
        let is_open = chosen.is_none() && found.iter().all(|candidate| !candidate.differs.is_empty());
        let whole = |candidate: &&Candidate| candidate.differs.is_empty() && candidate.values.len() > 1;
        if let Some(in_tyiyn) = in_tyiyn.iter().find(whole).filter(|_| is_open) {
            let because =
                format!("{} is the amount in tyiyn, and a dialect has a unit of QR amounts only", in_tyiyn.place);
            self.findings.inexpressible.push(OpenPoint::new(field, because, in_tyiyn.fits.clone()));
        } else if is_open {
            self.report_written_amount(field);
        }
    }

    /// An amount in a notation for people, which the core does not read in responses.
    fn report_written_amount(&mut self, field: FieldOf) {
        let exchanges = self.exchanges;
        let written = candidates(exchanges.read_at(field.0), |seen, value| {
            let amount = exchanges.payment(seen).amount?;
            let digits: String =
                value.text.replace(',', ".").chars().filter(|sign| sign.is_ascii_digit() || *sign == '.').collect();
            let is_plain = value.decimal().is_some() || digits.is_empty() || value.text.len() > 30;
            (!is_plain).then(|| Decimal::from_str_exact(&digits).is_ok_and(|read| read == amount))
        });
        for candidate in written.iter().filter(|candidate| candidate.differs.is_empty() && candidate.values.len() > 1) {
            let example = candidate.values.first().map_or("", String::as_str);
            let because =
                format!("{} is the amount as a text like {example:?}; the core reads plain decimals", candidate.place);
            self.findings.inexpressible.push(OpenPoint::new(field, because, candidate.fits.clone()));
        }
    }

    fn learn_currency(&mut self, endpoint: Endpoint) {
        if !endpoint.has(Field::Currency) {
            return;
        }
        let exchanges = self.exchanges;
        let found = candidates(exchanges.read_at(endpoint), |seen, value| {
            let currency = exchanges.payment(seen).currency.as_deref()?;
            let number = CURRENCY_NUMBERS.iter().find(|(letters, _)| *letters == currency).map(|(_, number)| *number);
            Some(value.text.eq_ignore_ascii_case(currency) || Some(value.text.as_str()) == number)
        });
        let rule = Rule { values: 1, because: "the requested currency", payment: TWO_PAYMENTS };
        self.settle(FieldOf(endpoint, Field::Currency), found, &rule);
    }

    fn learn_order_number(&mut self, endpoint: Endpoint) {
        if !endpoint.has(Field::OrderNumber) {
            return;
        }
        let field = FieldOf(endpoint, Field::OrderNumber);
        let exchanges = self.exchanges;
        let by = |number: fn(&Payment) -> &Option<String>| {
            candidates(exchanges.read_at(endpoint), move |seen, value| {
                Some(value.text == *number(exchanges.payment(seen)).as_deref()?)
            })
        };
        if endpoint == Endpoint::QrStatus {
            // The core does not compare it, so it is omitted if several places have it.
            let mut found = by(|payment| &payment.transaction);
            found.retain(|candidate| candidate.differs.is_empty());
            if found.len() == 1 {
                let rule = Rule { values: 1, because: "the transaction that was queried", payment: TWO_PAYMENTS };
                self.settle(field, found, &rule);
            }
            return;
        }
        let own = by(|payment| &payment.own);
        let rule = Rule { values: 2, because: "the merchant's number of the payment", payment: TWO_PAYMENTS };
        let is_known = |found: &[Candidate]| found.iter().any(|candidate| candidate.differs.is_empty());
        if is_known(&own) || endpoint.role() != Role::Queries {
            self.settle(field, own, &rule);
            return;
        }
        let gateways = by(|payment| &payment.gateway);
        if is_known(&gateways) {
            let rule = Rule { because: "the gateway's number of the payment", ..rule };
            self.settle(field, gateways, &rule);
            return;
        }
        self.check_foreign_number(field);
    }

    /// A report with a number that no other message has: the core treats it as another payment's, unless the dialect allows any number.
    fn check_foreign_number(&mut self, field: FieldOf) {
        let place = Field::OrderNumber.shown()[0];
        let foreign = |seen: &&Observed| {
            let value = seen.value(place);
            value.is_some_and(|value| !self.exchanges.payment(seen).has_number(&value.text))
        };
        let at: Vec<At> = self.exchanges.read_at(field.0).filter(foreign).map(|seen| seen.at).collect();
        if at.is_empty() {
            return;
        }
        let key = format!("{}.{NUMBERS}", field.0);
        let because =
            format!("{place} is a number that is in no other message, so the core takes it for another payment's");
        if self.answers.key(Some(field.0), NUMBERS) {
            self.findings.learned.push(Finding::new(key, "any", format!("you confirmed it: {because}"), at));
            self.draft.any_numbers.insert(field.0);
        } else {
            self.findings.needs_yes.push(OpenPoint::new(&key, because, at).with(format!("--confirm {key}=any")));
        }
    }

    fn learn_gateway_number(&mut self, endpoint: Endpoint) {
        if !endpoint.has(Field::GatewayNumber) {
            return;
        }
        let field = FieldOf(endpoint, Field::GatewayNumber);
        let exchanges = self.exchanges;
        let number = |seen: &Observed| exchanges.payment(seen).gateway.as_deref();
        let found = candidates(exchanges.read_at(endpoint), |seen, value| Some(value.text == number(seen)?));
        let rule = Rule { values: 2, because: "the number by which the payment was queried", payment: TWO_PAYMENTS };
        if self.settle(field, found.clone(), &rule).is_some() || endpoint != Endpoint::CardPayment || !found.is_empty()
        {
            return;
        }
        // The core reads the `token` of the confirmation page itself.
        let elsewhere = candidates(exchanges.read_at(endpoint), |seen, value| {
            let (url, number) = (value.address()?, number(seen)?);
            let is_token = url.query_pairs().any(|(name, value)| name == "token" && value == number);
            (value.names(number) && !is_token).then_some(true)
        });
        for candidate in elsewhere {
            let because = format!(
                "the gateway's number is a part of the address at {}, and the core reads only its parameter `token`",
                candidate.place
            );
            self.findings.inexpressible.push(OpenPoint::new(field, because, candidate.fits));
        }
    }

    /// Addresses that differ for each payment; the address of a page about the merchant or of a logo does not.
    fn learn_pages(&mut self) {
        for (endpoint, field, because) in [
            (Endpoint::CardPayment, Field::ConfirmationUrl, "a web address that differs for each payment"),
            (Endpoint::PayForm, Field::PayFormUrl, "a web address that differs for each pay-form"),
        ] {
            let sent = |seen: &Observed, value: &Value| seen.request.iter().any(|sent| sent.text == value.text);
            let pages = |seen: &Observed, value: &Value| value.address().map(|_| !sent(seen, value));
            let mut found = candidates(self.exchanges.read_at(endpoint), pages);
            found.retain(|candidate| candidate.values.len() == candidate.fits.len() || candidate.values.len() > 2);
            let queried = |candidate: &Candidate| {
                self.exchanges.read_at(endpoint).any(|seen| {
                    let number = self.exchanges.payment(seen).gateway.as_deref();
                    number.is_some_and(|number| seen.value(&candidate.place).is_some_and(|value| value.names(number)))
                })
            };
            // The page whose number was queried later belongs to the payment.
            if found.iter().filter(|candidate| queried(candidate)).count() == 1 {
                found.retain(queried);
            }
            let rule = Rule { values: 2, because, payment: "record two payments whose payer must open a page" };
            self.settle(FieldOf(endpoint, field), found, &rule);
        }
    }

    fn learn_picture(&mut self) {
        let found = candidates(self.exchanges.read_at(Endpoint::QrImage), |_, value| {
            let start: String = value.text.chars().filter(|sign| !sign.is_whitespace()).take(12).collect();
            Some(STANDARD.decode(start).is_ok_and(|bytes| bytes.starts_with(PNG)))
        });
        let rule = Rule { values: 1, because: "a PNG in base64", payment: "create a QR picture" };
        self.settle(FieldOf(Endpoint::QrImage, Field::Image), found, &rule);
    }

    fn learn_qr_code(&mut self) {
        let exchanges = self.exchanges;
        let seen = || exchanges.read_at(Endpoint::QrData);
        let codes = candidates(seen(), |_, value| Some(!value.tags().is_empty()));
        let rule = Rule { values: 1, because: "an ELQR code with a right checksum", payment: "create QR data" };
        let payload = self.settle(FieldOf(Endpoint::QrData, Field::QrPayload), codes, &rule);
        let field = FieldOf(Endpoint::QrData, Field::TransactionId);
        let transaction = |seen: &Observed| exchanges.payment(seen).transaction.as_deref();
        let mut found = candidates(seen(), |seen, value| Some(value.text == transaction(seen)?));
        let has_amount = self.place(FieldOf(Endpoint::QrStatus, Field::Amount)).is_some();
        let is_plain = found.iter().any(|candidate| candidate.differs.is_empty());
        if !is_plain || !has_amount || self.answers.places.get(&field).is_some_and(|place| place.starts_with("elqr:")) {
            let tags = payload.map(|payload| self.transaction_tags(&payload)).unwrap_or_default();
            if !tags.is_empty() {
                found = tags;
            }
        }
        let rule = Rule {
            values: 2,
            because: "the transaction that was queried",
            payment: "create a second QR code, and query its status",
        };
        self.settle(field, found, &rule);
    }

    /// The tags of QR codes that contain the transaction, as named in a dialect.
    fn transaction_tags(&self, payload: &str) -> Vec<Candidate> {
        let exchanges = self.exchanges;
        let tag_values = |tag: &str| {
            candidates(exchanges.read_at(Endpoint::QrData), |seen, value| {
                let transaction = exchanges.payment(seen).transaction.as_deref().filter(|_| value.place == payload)?;
                Some(value.tags().iter().any(|(known, value)| known == tag && value == transaction))
            })
        };
        let all = exchanges.read_at(Endpoint::QrData).filter_map(|seen| seen.value(payload)).flat_map(Value::tags);
        let mut names: Vec<String> = all.map(|(tag, _)| tag).collect();
        names.sort();
        names.dedup();
        let named = |tag: String| {
            tag_values(&tag).into_iter().map(move |found| Candidate { place: format!("elqr:{tag}"), ..found })
        };
        names.into_iter().flat_map(named).collect()
    }

    /// The identifier of an MBank confirmation.
    fn learn_identifier(&mut self) {
        let mut fields: Vec<(String, Vec<&Observed>)> = Vec::new();
        for confirm in self.exchanges.at(Endpoint::MbankConfirm).filter(|seen| seen.is_ok()) {
            let own = self.exchanges.payment(confirm).own.as_deref();
            for value in confirm.request.iter().filter(|value| value.is_readable() && value.place != "/otp") {
                let is_number = value.place == "/orderNumber" && own == Some(&value.text);
                if !is_number && own.is_some() {
                    match fields.iter_mut().find(|(name, _)| *name == value.place) {
                        Some((_, seen)) => seen.push(confirm),
                        None => fields.push((value.place.clone(), vec![confirm])),
                    }
                }
            }
        }
        for (place, confirms) in fields {
            let carried = |created: &Observed| {
                let confirm = confirms.iter().find(|confirm| confirm.payment == created.payment)?;
                confirm.request.iter().find(|value| value.place == place).map(|value| value.text.as_str())
            };
            let created = self.exchanges.read_at(Endpoint::MbankPayment);
            let mut found = candidates(created, |seen, value| Some(value.text == carried(seen)?));
            found.retain(|candidate| candidate.differs.is_empty() && candidate.values.len() > 1);
            let name = place.trim_start_matches('/');
            let at: Vec<At> = confirms.iter().map(|seen| seen.at).collect();
            match found.as_slice() {
                [only] => {
                    let because = format!("the confirmation carries it in the field {name}, and was accepted");
                    let at = at.into_iter().chain(only.fits.clone()).collect();
                    self.findings.learned.push(Finding::new("mbank_identifier", &only.place, because, at));
                    self.draft.identifier = Some((only.place.clone(), name.to_owned()));
                }
                [] => {}
                several => {
                    let places: Vec<_> = several.iter().map(|candidate| candidate.place.as_str()).collect();
                    let because = format!("{} are each what {name} of the confirmation carries", places.join(" and "));
                    self.findings.ambiguous.push(
                        OpenPoint::new("mbank_identifier", because, at)
                            .with("write mbank_identifier yourself: docs/dialect.md"),
                    );
                }
            }
        }
    }

    fn learn_qr_numbers(&mut self) {
        let by_transaction = |seen: &&Observed| {
            let number = seen.requested("orderNumber");
            number.is_some() && number == self.exchanges.payment(seen).transaction.as_deref()
        };
        let asked: Vec<_> = self.exchanges.at(Endpoint::ProviderStatus).filter(by_transaction).collect();
        // An answer without any value of the payment did not find it, whatever its HTTP status.
        let is_about_it = |seen: &Observed| {
            let payment = self.exchanges.payment(seen);
            let has = |value: &Value| payment.has_number(&value.text) || is_amount_of(payment, value);
            seen.is_ok()
                && seen.is_object
                && (seen.value(SHOWN).is_some() || seen.response.iter().any(|value| value.is_readable() && has(value)))
        };
        let found: Vec<At> = asked.iter().filter(|seen| is_about_it(seen)).map(|seen| seen.at).collect();
        let refused = |seen: &&&Observed| {
            seen.status.is_some_and(|status| matches!(status, 400 | 404 | 410 | 422))
                || (seen.is_ok() && !is_about_it(seen))
        };
        let refused: Vec<At> = asked.iter().filter(refused).map(|seen| seen.at).collect();
        if !found.is_empty() {
            let because = "get-status answered about a QR payment by its transaction";
            self.findings.learned.push(Finding::new(QR_NUMBERS, "transaction_id", because, found));
            self.draft.qr_numbers = Some("transaction_id");
        } else if !refused.is_empty() && self.answers.key(None, QR_NUMBERS) {
            let because = "you confirmed it, and get-status refused the number of a QR payment";
            self.findings.learned.push(Finding::new(QR_NUMBERS, "none", because, refused));
            self.draft.qr_numbers = Some("none");
        } else if !refused.is_empty() {
            let because = "get-status refused the transaction of a QR payment, but may find it by another number";
            let point = OpenPoint::new(QR_NUMBERS, because, refused).with(format!("--confirm {QR_NUMBERS}=none"));
            self.findings.needs_yes.push(point);
        } else if self.has_seen(Endpoint::PayForm) {
            let because = "without it charges of pay-forms are Unverifiable, unless QR amounts are in som";
            let point = OpenPoint::new(QR_NUMBERS, because, Vec::new());
            self.findings.hints.push(point.with("query a QR payment's transaction by get-status, with provider MBank"));
        }
    }

    fn learn_callbacks(&mut self) {
        let mut found: Vec<(String, Vec<At>)> = Vec::new();
        for callback in &self.exchanges.callbacks {
            let payment = callback.payment.map(|index| &self.exchanges.payments[index]);
            let Some(transaction) = payment.and_then(|payment| payment.transaction.as_deref()) else { continue };
            for value in callback.values.iter().filter(|value| value.text == transaction) {
                match found.iter_mut().find(|(place, _)| *place == value.place) {
                    Some((_, at)) => at.push(callback.at),
                    None => found.push((value.place.clone(), vec![callback.at])),
                }
            }
        }
        // Each place contains it, so the first one that the core finds is right.
        if found.is_empty()
            || found.iter().any(|(place, _)| matches!(place.as_str(), "/transaction_id" | "/transactionId"))
        {
            return;
        }
        let at = found.iter().flat_map(|(_, at)| at.clone()).collect();
        let places: Vec<_> = found.into_iter().map(|(place, _)| place).collect();
        let because = "the transaction of a QR payment, in its callback";
        self.findings.learned.push(Finding::new("callback.transaction_id", places.join(", "), because, at));
        self.draft.callback_transaction = places;
    }

    /// The unit of QR amounts, if all recorded ones agree.
    fn learn_unit(&mut self) {
        let mut seen: Vec<(Unit, Decimal, At)> = Vec::new();
        let mut add = |payment: &Payment, value: &Value, at: At| {
            let (Some(amount), Some(reported)) = (payment.amount, value.decimal()) else { return };
            let unit = if reported == amount { Some(Unit::Som) } else { None };
            let unit = unit.or((Some(reported) == amount.checked_mul(Decimal::ONE_HUNDRED)).then_some(Unit::Tyiyn));
            seen.extend(unit.map(|unit| (unit, amount, at)));
        };
        for endpoint in [Endpoint::QrStatus, Endpoint::QrData] {
            let Some(place) = self.place(FieldOf(endpoint, Field::Amount)) else { continue };
            for exchange in self.exchanges.read_at(endpoint) {
                if let Some(value) = exchange.value(place) {
                    add(self.exchanges.payment(exchange), value, exchange.at);
                }
            }
        }
        for callback in &self.exchanges.callbacks {
            let Some(payment) = callback.payment.map(|index| &self.exchanges.payments[index]) else { continue };
            let is_qr = payment.created_by.is_some_and(Endpoint::is_qr);
            if let Some(value) = callback.values.iter().find(|value| is_qr && value.place.ends_with("/amount")) {
                add(payment, value, callback.at);
            }
        }
        let status = FieldOf(Endpoint::QrStatus, Field::Amount);
        let exchanges = self.exchanges;
        let is_unsettled = self.place(status).is_none()
            && exchanges
                .read_at(Endpoint::QrStatus)
                .any(|seen| seen.response.iter().any(|value| is_amount_of(exchanges.payment(seen), value)));
        let Some((unit, first, _)) = seen.first().copied() else { return };
        if is_unsettled {
            let because = "the place of the amount in QR status reports is not decided, so neither is its unit";
            self.findings
                .missing
                .push(OpenPoint::new("qr_amount_unit", because, Vec::new()).with("decide qr_status.amount first"));
            return;
        }
        let at: Vec<At> = seen.iter().map(|(_, _, at)| *at).collect();
        if seen.iter().any(|(other, _, _)| *other != unit) {
            let because = "some amounts of QR payments are in som and some in tyiyn; a dialect has one unit";
            self.findings.inexpressible.push(OpenPoint::new("qr_amount_unit", because, at));
        } else if seen.iter().all(|(_, amount, _)| *amount == first) {
            let because = "only QR payments of one amount were recorded";
            self.findings.missing.push(OpenPoint::new("qr_amount_unit", because, at).with(TWO_PAYMENTS));
        } else {
            let because = "different amounts requested in tyiyn are reported in this unit";
            self.findings.learned.push(Finding::new("qr_amount_unit", <&str>::from(unit), because, at));
            self.draft.unit = Some(unit);
        }
    }
}

/// Whether a value is the requested amount, in som or in tyiyn.
pub(super) fn is_amount_of(payment: &Payment, value: &Value) -> bool {
    let (Some(amount), Some(found)) = (payment.amount, value.decimal()) else { return false };
    found == amount || Some(found) == amount.checked_mul(Decimal::ONE_HUNDRED)
}
