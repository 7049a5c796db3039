//! The page's texts, a file a language.

mod english;
mod kyrgyz;
mod russian;

use kassa::Language;

/// The texts of one language.
pub(in crate::pay) struct Texts {
    /// Of the switch of languages, for screen readers.
    pub(in crate::pay) languages: &'static str,
    /// Of the name of the merchant, for screen readers.
    pub(in crate::pay) to: &'static str,
    /// With a time where the braces are.
    pub(in crate::pay) until: &'static str,
    /// A time of today, for the braces of `until`.
    pub(in crate::pay) today_until: &'static str,
    pub(in crate::pay) tomorrow_until: &'static str,
    pub(in crate::pay) day_until: &'static str,
    /// For the script: minutes and seconds stand where the braces are.
    pub(in crate::pay) countdown: &'static str,
    /// Behind a moment.
    pub(in crate::pay) clock: &'static str,
    pub(in crate::pay) back_to_shop: &'static str,
    pub(in crate::pay) check_now: &'static str,
    /// Where the payer has nothing more to do.
    pub(in crate::pay) look_again: &'static str,

    pub(in crate::pay) choose: &'static str,
    pub(in crate::pay) no_way: &'static str,
    pub(in crate::pay) trust: &'static str,
    /// Before the ways to reach the shop.
    pub(in crate::pay) contact: &'static str,
    pub(in crate::pay) pay_form: &'static str,
    pub(in crate::pay) pay_form_hint: &'static str,
    pub(in crate::pay) qr: &'static str,
    pub(in crate::pay) qr_hint: &'static str,
    pub(in crate::pay) mbank: &'static str,
    pub(in crate::pay) mbank_hint: &'static str,
    pub(in crate::pay) megapay: &'static str,
    pub(in crate::pay) megapay_hint: &'static str,
    pub(in crate::pay) megapay_phone_hint: &'static str,
    pub(in crate::pay) phone: &'static str,
    pub(in crate::pay) phone_hint: &'static str,
    pub(in crate::pay) phone_wrong: &'static str,
    /// For the script, which puts the number where the braces are.
    pub(in crate::pay) phone_goes_to: &'static str,

    pub(in crate::pay) declined: &'static str,
    pub(in crate::pay) not_made: &'static str,
    pub(in crate::pay) not_reached: &'static str,

    pub(in crate::pay) under_way: &'static str,
    pub(in crate::pay) under_way_more: &'static str,

    pub(in crate::pay) code: &'static str,
    pub(in crate::pay) code_more: &'static str,
    /// With the last digits of the number where the braces are.
    pub(in crate::pay) code_more_to: &'static str,
    /// For the script, which knows the number: it stands where the braces are.
    pub(in crate::pay) code_sent_to: &'static str,
    pub(in crate::pay) code_sent_at_once: &'static str,
    pub(in crate::pay) code_label: &'static str,
    /// Before a number.
    pub(in crate::pay) codes_left: &'static str,
    pub(in crate::pay) code_wrong: &'static str,
    pub(in crate::pay) code_not_sent: &'static str,
    pub(in crate::pay) code_missing: &'static str,
    pub(in crate::pay) code_unlike: &'static str,
    pub(in crate::pay) confirm: &'static str,
    /// Of a MegaPay wallet.
    pub(in crate::pay) pin: &'static str,
    pub(in crate::pay) pin_more: &'static str,
    /// With the last digits of the number where the braces are.
    pub(in crate::pay) pin_more_to: &'static str,
    /// For the script.
    pub(in crate::pay) pin_sent_to: &'static str,
    pub(in crate::pay) pin_label: &'static str,
    /// Before a moment.
    pub(in crate::pay) pin_until: &'static str,
    pub(in crate::pay) pin_missing: &'static str,
    pub(in crate::pay) pin_unlike: &'static str,
    pub(in crate::pay) pin_wrong: &'static str,
    pub(in crate::pay) pin_not_sent: &'static str,
    /// Of what the payer pays.
    pub(in crate::pay) amount: &'static str,
    pub(in crate::pay) commission: &'static str,
    pub(in crate::pay) commission_unknown: &'static str,
    pub(in crate::pay) total: &'static str,
    /// With the total where the braces are.
    pub(in crate::pay) pay_total: &'static str,
    pub(in crate::pay) no_codes: &'static str,
    pub(in crate::pay) no_codes_more: &'static str,
    pub(in crate::pay) other_number: &'static str,
    pub(in crate::pay) other_number_more: &'static str,

    pub(in crate::pay) page: &'static str,
    pub(in crate::pay) page_more: &'static str,
    pub(in crate::pay) open_page: &'static str,
    pub(in crate::pay) going: &'static str,
    pub(in crate::pay) other_way: &'static str,
    pub(in crate::pay) other_way_more: &'static str,

    pub(in crate::pay) scan: &'static str,
    pub(in crate::pay) scan_more: &'static str,
    pub(in crate::pay) code_picture: &'static str,
    pub(in crate::pay) open_app: &'static str,
    pub(in crate::pay) open_app_more: &'static str,
    /// Above the banks by name, below the button of any bank.
    pub(in crate::pay) or_bank: &'static str,
    /// In the place of a bank's name.
    pub(in crate::pay) any_bank: &'static str,
    /// The label that shows the banks if the page is not on a phone.
    pub(in crate::pay) bank_apps: &'static str,
    pub(in crate::pay) show_code: &'static str,
    pub(in crate::pay) other_than_code: &'static str,

    pub(in crate::pay) waiting: &'static str,
    pub(in crate::pay) waiting_more: &'static str,
    /// The steps of a payment that is waited for.
    pub(in crate::pay) step_sent: &'static str,
    pub(in crate::pay) step_bank: &'static str,
    pub(in crate::pay) step_result: &'static str,
    /// Where the payer says that they have paid.
    pub(in crate::pay) claimed: &'static str,
    pub(in crate::pay) claimed_more: &'static str,
    /// With the time of the gateway's last report where the braces are.
    pub(in crate::pay) checked_at: &'static str,
    pub(in crate::pay) declined_on_page: &'static str,
    pub(in crate::pay) pay_again: &'static str,
    pub(in crate::pay) not_paid_yet: &'static str,
    pub(in crate::pay) unknown: &'static str,
    pub(in crate::pay) unknown_more: &'static str,
    pub(in crate::pay) paid: &'static str,
    pub(in crate::pay) paid_more: &'static str,
    pub(in crate::pay) receipt: &'static str,
    pub(in crate::pay) paid_to: &'static str,
    pub(in crate::pay) paid_at: &'static str,
    pub(in crate::pay) paid_by: &'static str,
    pub(in crate::pay) card: &'static str,
    pub(in crate::pay) operation: &'static str,
    pub(in crate::pay) print: &'static str,
    pub(in crate::pay) save_picture: &'static str,
    pub(in crate::pay) paid_twice: &'static str,
    pub(in crate::pay) person: &'static str,
    pub(in crate::pay) person_more: &'static str,
    /// Before the shop's reference.
    pub(in crate::pay) order: &'static str,
    pub(in crate::pay) late: &'static str,
    pub(in crate::pay) late_more: &'static str,
    pub(in crate::pay) expired: &'static str,
    pub(in crate::pay) expired_more: &'static str,
    pub(in crate::pay) cancelled: &'static str,
    pub(in crate::pay) cancelled_more: &'static str,

    pub(in crate::pay) once_more: &'static str,
    pub(in crate::pay) too_many_tries: &'static str,
    /// Where the line to the server is cut.
    pub(in crate::pay) offline: &'static str,
    /// Where a form could not be sent.
    pub(in crate::pay) not_sent: &'static str,
    pub(in crate::pay) not_done: &'static str,
    pub(in crate::pay) nowhere: &'static str,
    pub(in crate::pay) nowhere_more: &'static str,
    pub(in crate::pay) too_often: &'static str,
    pub(in crate::pay) foreign: &'static str,
    pub(in crate::pay) unavailable: &'static str,
    pub(in crate::pay) to_page: &'static str,
}

/// Those of a language.
pub(in crate::pay) fn texts(language: Language) -> &'static Texts {
    match language {
        Language::Russian => &russian::TEXTS,
        Language::Kyrgyz => &kyrgyz::TEXTS,
        _ => &english::TEXTS,
    }
}
