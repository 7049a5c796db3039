//! The definition of each language's tables, and the public labels.

/// Declares the tables of a language, and [`CheckoutLabels`] with the labels as owned strings.
macro_rules! tables {
    (labels { $($(#[$doc:meta])* $label:ident,)* } states { $($(#[$note:meta])* $state:ident,)* }) => {
        /// The labels of a payment screen that are the same in every state: buttons, fields, methods. None has a placeholder.
        ///
        /// ```
        /// use kassa::{CheckoutLabels, Language, PaymentMethod};
        ///
        /// let labels = CheckoutLabels::of(Language::Russian);
        /// assert_eq!(labels.confirm, "Подтвердить платёж");
        /// assert_eq!(labels.name_of(PaymentMethod::Qr), "QR-код");
        /// ```
        #[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub struct CheckoutLabels {
            $($(#[$doc])* pub $label: String,)*
        }

        /// The labels of a language.
        pub(super) struct LabelTable {
            $(pub(super) $label: &'static str,)*
        }

        /// The sentences about states of a language.
        pub(super) struct StateTable {
            $($(#[$note])* pub(super) $state: &'static str,)*
        }

        impl From<&LabelTable> for CheckoutLabels {
            fn from(table: &LabelTable) -> Self {
                Self { $($label: table.$label.to_owned(),)* }
            }
        }

        #[cfg(test)]
        impl LabelTable {
            pub(super) fn entries(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($label), self.$label),)*]
            }
        }

        #[cfg(test)]
        impl StateTable {
            pub(super) fn entries(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($state), self.$state),)*]
            }
        }
    };
}

tables! {
    labels {
        /// The screen's title.
        title,
        /// Before a colon and the shop's own reference.
        order,
        /// The method: the gateway's own page.
        pay_form,
        /// The hint about it.
        pay_form_hint,
        /// The method: a QR code.
        qr,
        /// The hint about it.
        qr_hint,
        /// The method: the mobile bank; also the title of its form.
        mbank,
        /// The hint about it.
        mbank_hint,
        /// The method: a MegaPay wallet; also the title of its form.
        megapay,
        /// The hint about it.
        megapay_hint,
        /// The method: a card that is typed into the app.
        card,
        /// The hint about it.
        card_hint,
        /// The title of the form for a card.
        card_title,
        /// The field for the phone.
        phone,
        /// Below it, while the typed text is not a phone number: which phone to enter, and an example.
        phone_example,
        /// The error if the typed text is not a phone number. An example helps more than the broken rule.
        phone_wrong,
        /// The field for the code from the SMS.
        code,
        /// The error if the typed code is too short.
        code_short,
        /// The field for the card's number.
        card_number,
        /// The field for the card's expiry, month first.
        card_expiry,
        /// The field for the card's security code.
        card_cvc,
        /// Where the code is on the card.
        card_cvc_hint,
        /// The field for the name of the card's holder.
        card_holder,
        /// The button that pays, if the amount is not known yet.
        pay,
        /// The button that continues after the phone was typed.
        proceed,
        /// The button that sends the code.
        confirm,
        /// The button that opens the gateway's page.
        open_page,
        /// The button that opens it again.
        open_page_again,
        /// The text above the page's address if no app on this phone can open it.
        no_browser,
        /// The button that copies the address.
        copy_address,
        /// The confirmation after that.
        address_copied,
        /// The button that checks the status at once, while a page or a QR code can be paid.
        have_paid,
        /// The button that checks the status at once, while the payment waits for the bank.
        check_now,
        /// The button that opens an app of a bank on this phone.
        open_bank_app,
        /// The text if there is no such app.
        no_bank_app,
        /// The button that shows the banks by name, for a code that opens in the app of each.
        choose_bank,
        /// The button that saves the picture of the QR code.
        save_picture,
        /// The confirmation after that.
        picture_saved,
        /// The text if it was not saved.
        picture_not_saved,
        /// The description of the QR code for screen readers.
        qr_picture,
        /// The heading of the other methods, or the button that shows them, while a page is open; and the button that
        /// leaves a QR code.
        other_way,
        /// The hint next to it while a page is open: when not to use it.
        other_way_hint,
        /// The hint next to it while a QR code is shown: when not to use it.
        other_than_code_hint,
        /// The button that leaves the screen for the code from the SMS.
        other_number,
        /// The hint next to it: who needs it, and what happens to the code.
        other_number_hint,
        /// The button that goes back.
        back,
        /// The button that goes back to the open payment.
        back_to_code,
        /// The button that closes the screen.
        close,
        /// The button that closes it after the payment.
        done,
        /// The text on the cover while the app is in the background.
        covered,
    }
    states {
        opening,
        opening_more,
        choose,
        /// The text while the payer chooses again although a payment is open.
        choose_again,
        /// The text after a QR code was abandoned, which can still be paid.
        left_code,
        /// The text if there is no method.
        no_way,
        sending,
        sending_more,
        code,
        /// After the name of the method.
        code_sent,
        /// After the name of the method, and before the last digits of the phone.
        code_sent_to,
        /// After them.
        code_sent_to_end,
        /// Before the number of attempts.
        attempts_left,
        /// Before the total.
        total,
        /// Before the amount, which is a part of the total.
        total_of,
        /// Between the amount and the commission.
        total_and,
        /// After them.
        total_end,
        /// The text if a wallet may charge a commission and the gateway's response has none.
        commission_unknown,
        page,
        page_more,
        scan,
        scan_more,
        waiting,
        waiting_more,
        paid,
        paid_more,
        not_paid,
        person,
        person_more,
        expired,
        expired_more,
        /// The text if the payer may have paid a checkout that has ended.
        late_more,
        token_expired,
        token_expired_more,
        /// Before the phone that the code goes to.
        phone_goes_to,
        /// After it.
        phone_goes_to_end,
    }
}
