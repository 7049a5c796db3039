//! What the tables of each language hold, and the labels as they are handed out.

/// Declares the tables of a language, and [`CheckoutLabels`] with the labels as owned texts.
macro_rules! tables {
    (labels { $($(#[$doc:meta])* $label:ident,)* } states { $($(#[$note:meta])* $state:ident,)* }) => {
        /// The words of a payment screen that are the same in every state: buttons, fields, ways to pay. None of them has a place to
        /// be filled in.
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
        /// The way to pay by the gateway's own page.
        pay_form,
        /// What the payer has to know about it.
        pay_form_hint,
        /// The way to pay by a QR code.
        qr,
        /// What the payer has to know about it.
        qr_hint,
        /// The way to pay by the mobile bank, and the title of its form.
        mbank,
        /// What the payer has to know about it.
        mbank_hint,
        /// The way to pay from a MegaPay wallet, and the title of its form.
        megapay,
        /// What the payer has to know about it.
        megapay_hint,
        /// The way to pay by a card that is typed into the app.
        card,
        /// What the payer has to know about it.
        card_hint,
        /// The title of the form for a card.
        card_title,
        /// The field for the phone.
        phone,
        /// Below it, as long as what was typed is no number: whose it is, and an example.
        phone_example,
        /// Where what was typed is no number, whatever rule it breaks: an example says more than the rule.
        phone_wrong,
        /// The field for the code from the SMS.
        code,
        /// Where too little of it was typed.
        code_short,
        /// The field for the card's number.
        card_number,
        /// The field for the card's expiry, month first.
        card_expiry,
        /// The field for the card's security code.
        card_cvc,
        /// Where it stands.
        card_cvc_hint,
        /// The field for the name of the card's holder.
        card_holder,
        /// The button that pays, where the amount is not known yet.
        pay,
        /// The button that goes on after the phone was typed.
        proceed,
        /// The button that sends the code.
        confirm,
        /// The button that opens the gateway's page.
        open_page,
        /// The button that opens it again.
        open_page_again,
        /// Where nothing on this phone opens a page; above its address.
        no_browser,
        /// The button that copies the address.
        copy_address,
        /// What is said then.
        address_copied,
        /// The button that checks the status at once, while a page or a QR code can be paid.
        have_paid,
        /// The button that checks the status at once, while the bank is waited for.
        check_now,
        /// The button that opens an app of a bank on this phone.
        open_bank_app,
        /// Where there is none.
        no_bank_app,
        /// The button that shows the banks by name, for a code that opens in the app of each.
        choose_bank,
        /// The button that saves the picture of the QR code.
        save_picture,
        /// What is said then.
        picture_saved,
        /// What is said where it was not.
        picture_not_saved,
        /// What the QR code is, for those who hear the screen.
        qr_picture,
        /// Above the other ways to pay, or the button that shows them, while a page is there; and the button that
        /// leaves a QR code.
        other_way,
        /// Beside it while a page is there: when not to.
        other_way_hint,
        /// Beside it while a QR code is there: when not to.
        other_than_code_hint,
        /// The button that leaves the question for the code from the SMS.
        other_number,
        /// Beside it: for whom it is, and what becomes of the code.
        other_number_hint,
        /// The button that goes back.
        back,
        /// The button that goes back to the open payment.
        back_to_code,
        /// The button that closes the screen.
        close,
        /// The button that closes it where the payment is paid.
        done,
        /// What covers the screen while the app is not in front.
        covered,
    }
    states {
        opening,
        opening_more,
        choose,
        /// Where the payer chooses again though a payment is open.
        choose_again,
        /// Where a QR code was left, which can still be paid.
        left_code,
        /// Where there is no way to pay.
        no_way,
        sending,
        sending_more,
        code,
        /// Behind the name of the way to pay.
        code_sent,
        /// Behind the name of the way to pay, and before the last digits of the phone.
        code_sent_to,
        /// Behind them.
        code_sent_to_end,
        /// Before how many.
        attempts_left,
        /// Before what the payer pays in all.
        total,
        /// Before the amount, of which the total is made.
        total_of,
        /// Between the amount and the commission.
        total_and,
        /// Behind them.
        total_end,
        /// Where a wallet may take a commission, and the gateway's response had none.
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
        /// Where the payer may have paid a checkout that has ended.
        late_more,
        token_expired,
        token_expired_more,
        /// Before the phone that the code goes to.
        phone_goes_to,
        /// Behind it.
        phone_goes_to_end,
    }
}
