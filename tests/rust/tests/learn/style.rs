//! Invented gateways: how each of them names and writes things, by a random seed, and the dialect that says so.

use serde_json::{Map, Value, json};

/// A source of random numbers that is the same for a seed on every machine (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    pub fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }

    /// A word that no language has.
    fn invented(&mut self) -> String {
        let syllables = ["ba", "ro", "ki", "lu", "me", "to", "za", "vi", "su", "gan", "dor", "fel", "mur", "pas"];
        (0..3).map(|_| self.pick(&syllables)).collect::<String>().to_uppercase()
    }
}

/// Why a gateway cannot be learned whole from one recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguity {
    None,
    /// Two amounts in each status, which were the same whenever it was recorded.
    TwinAmounts,
    /// A code and a text that are both one word.
    TwoCodes,
}

/// The words for the states of a payment.
#[derive(Clone, Debug)]
pub struct Words {
    pub created: String,
    pub pending: String,
    pub paid: String,
    pub declined: String,
}

impl Words {
    fn random(random: &mut Random) -> Self {
        let [created, pending, paid, declined] = match random.below(5) {
            0 => ["NEW", "PROCESSING", "PAID", "DECLINED"].map(str::to_owned),
            1 => ["registered", "accepted", "success", "failed"].map(str::to_owned),
            2 => ["ОЖИДАЕТ", "ОБРАБОТКА", "ОПЛАЧЕН", "ОТКЛОНЁН"].map(str::to_owned),
            3 => ["0", "1", "2", "-3"].map(str::to_owned),
            _ => loop {
                let words: [String; 4] = std::array::from_fn(|_| random.invented());
                if words.iter().enumerate().all(|(index, word)| !words[..index].contains(word)) {
                    break words;
                }
            },
        };
        Self { created, pending, paid, declined }
    }
}

/// How a gateway writes its responses. Places are JSON pointers.
#[derive(Clone, Debug)]
pub struct Style {
    pub seed: u64,
    pub ambiguity: Ambiguity,
    pub code: String,
    pub reason: String,
    pub codes_are_numbers: bool,
    pub codes: Codes,
    pub status: String,
    pub order: String,
    pub amount: String,
    pub currency: String,
    pub currency_is_number: bool,
    pub gateway_number: String,
    pub page: String,
    pub form: String,
    pub image: String,
    pub qr_text: String,
    pub transaction: String,
    pub amounts_are_texts: bool,
    pub words: Words,
    pub words_are_numbers: bool,
    /// The status of a QR payment is the bare word in place of the data.
    pub qr_word: Option<String>,
    pub qr_words: Words,
    pub qr_in_som: bool,
    pub transaction_in_code: bool,
    /// The page of a card has its number as `token`; otherwise it is in a field.
    pub has_token: bool,
    pub confirm_field: &'static str,
    pub refuses_wrong_passwords_with_200: bool,
    pub status_reports_own_number: bool,
}

/// The codes of a gateway.
#[derive(Clone, Debug)]
pub struct Codes {
    pub created: String,
    pub confirmed: String,
    pub found: String,
    pub declined: String,
    pub wrong_password: String,
    pub duplicate: String,
    pub not_found: String,
}

impl Style {
    pub fn random(seed: u64, ambiguity: Ambiguity) -> Self {
        let mut random = Random::new(seed);
        let random = &mut random;
        let head = random.pick(&["", "/result", "/head", "/meta/state", "/status"]).to_owned();
        let data = random.pick(&["/data", "/payload", "/body/payment", "/response", "/answer"]).to_owned();
        let field = |random: &mut Random, names: &[&str]| format!("{data}/{}", random.pick(names));
        // A code or an amount at the interface's own place is not ambiguous.
        let code_names: &[&str] =
            if ambiguity == Ambiguity::TwoCodes { &["rc", "errno"] } else { &["code", "rc", "errno", "resultCode"] };
        let code_name = random.pick(code_names);
        let reason_name = random.pick(&["text", "message", "description", "msg"]);
        let amounts: &[&str] = if ambiguity == Ambiguity::TwinAmounts {
            &["total", "summa", "value", "amt"]
        } else {
            &["amount", "total", "summa", "value", "amt"]
        };
        let words = Words::random(random);
        let words_are_numbers = words.paid == "2";
        let qr_words = if random.coin() { words.clone() } else { Words::random(random) };
        let is_bare = random.below(3) == 0 && qr_words.paid != "2";
        let is_in_digits = ambiguity != Ambiguity::TwoCodes;
        Self {
            seed,
            ambiguity,
            code: format!("{head}/{code_name}"),
            reason: format!("{head}/{reason_name}"),
            codes_are_numbers: is_in_digits && random.coin(),
            codes: Codes::random(random, is_in_digits),
            status: field(random, &["state", "status", "st", "paymentState", "result"]),
            order: field(random, &["order_id", "orderNumber", "merchantOrder", "zakaz", "ref"]),
            amount: field(random, amounts),
            currency: field(random, &["currency", "ccy", "cur"]),
            currency_is_number: random.below(4) == 0,
            gateway_number: field(random, &["paymentId", "operation", "rrn", "gwId"]),
            page: field(random, &["confirm_link", "redirect", "acsUrl", "page"]),
            form: field(random, &["form_link", "url", "payUrl"]),
            image: field(random, &["picture", "png", "qrImage"]),
            qr_text: field(random, &["qr_text", "qrString", "content"]),
            transaction: field(random, &["txn", "transaction", "qrId"]),
            amounts_are_texts: random.coin(),
            words,
            words_are_numbers,
            qr_word: is_bare.then(|| data.clone()),
            qr_words,
            qr_in_som: random.coin(),
            transaction_in_code: random.below(3) == 0 || is_bare,
            has_token: random.coin(),
            confirm_field: random.pick(&["orderNumber", "paymentId", "sessionId"]),
            refuses_wrong_passwords_with_200: random.coin(),
            status_reports_own_number: random.below(3) > 0,
        }
    }

    /// What a person who knew the gateway would write.
    pub fn dialect(&self) -> Value {
        let mut endpoints = Map::new();
        let mut endpoint = |name: &str, fields: &[(&str, &str)], codes: Value| {
            let mut keys = Map::new();
            keys.insert("code".to_owned(), json!([self.code]));
            keys.insert("reason".to_owned(), json!([self.reason]));
            keys.extend(fields.iter().map(|(field, place)| ((*field).to_owned(), json!([place]))));
            keys.extend(codes.as_object().cloned().unwrap_or_default());
            endpoints.insert(name.to_owned(), Value::Object(keys));
        };
        let codes = &self.codes;
        let report = [
            ("status", self.status.as_str()),
            ("order_number", self.order.as_str()),
            ("amount", self.amount.as_str()),
            ("currency", self.currency.as_str()),
        ];
        let words = |words: &Words| json!({"charged_words": [words.paid], "rejected_words": [words.declined]});
        let created = json!({"success_codes": [codes.created], "duplicate_codes": [codes.duplicate]});
        let sum = [
            ("order_number", self.order.as_str()),
            ("amount", self.amount.as_str()),
            ("currency", self.currency.as_str()),
        ];
        let number = ("gateway_number", self.gateway_number.as_str());
        let page = ("confirmation_url", self.page.as_str());
        let card: Vec<_> = sum.iter().copied().chain([page]).chain((!self.has_token).then_some(number)).collect();
        endpoint("card_payment", &card, created);
        let mbank: Vec<_> = sum.iter().copied().chain([number]).collect();
        endpoint("mbank_payment", &mbank, json!({"success_codes": [codes.created]}));
        endpoint(
            "mbank_confirm",
            &[("order_number", self.order.as_str())],
            json!({"success_codes": [codes.confirmed]}),
        );
        endpoint("payment_status", &report, words(&self.words));
        endpoint("provider_status", &report, words(&self.words));
        endpoint("pay_form", &[("pay_form_url", self.form.as_str())], json!({"success_codes": [codes.created]}));
        endpoint("qr_image", &[("image", self.image.as_str())], json!({"success_codes": [codes.created]}));
        let transaction = if self.transaction_in_code { "elqr:32.11" } else { self.transaction.as_str() };
        let qr =
            [("qr_payload", self.qr_text.as_str()), ("transaction_id", transaction), ("amount", self.amount.as_str())];
        endpoint("qr_data", &qr, json!({"success_codes": [codes.created]}));
        match &self.qr_word {
            Some(place) => endpoint("qr_status", &[("status", place.as_str())], words(&self.qr_words)),
            None => {
                let fields = [
                    ("status", self.status.as_str()),
                    ("amount", self.amount.as_str()),
                    ("currency", self.currency.as_str()),
                ];
                endpoint("qr_status", &fields, words(&self.qr_words));
            }
        }
        json!({
            "endpoints": endpoints,
            "mbank_identifier": {"pointers": [self.gateway_number], "confirm_field": self.confirm_field},
            "qr_amount_unit": if self.qr_in_som { "som" } else { "tyiyn" },
        })
    }
}

impl Codes {
    fn random(random: &mut Random, is_in_digits: bool) -> Self {
        let base = 100 * (1 + random.below(8));
        let code = |index: usize| if is_in_digits { (base + index).to_string() } else { format!("E{index}") };
        Self {
            created: code(0),
            confirmed: code(1),
            found: code(2),
            declined: code(3),
            wrong_password: code(22),
            duplicate: code(9),
            not_found: code(4),
        }
    }
}
