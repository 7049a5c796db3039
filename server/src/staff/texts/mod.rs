//! The texts of the staff's pages, a file a language.

mod english;
mod kyrgyz;
mod russian;

use std::fmt::Display;

use kassa::Language;

/// Makes a struct of texts by their names.
macro_rules! texts {
    ($($name:ident)*) => {
        /// The texts of one language. Where braces stand, a value is put in by [`fill`].
        pub(in crate::staff) struct Texts {
            pub(in crate::staff) language: Language,
            $(pub(in crate::staff) $name: &'static str,)*
        }
    };
}

texts! {
    // Frame.
    languages skip sections staff checkouts day reconciliation log_out clock not_done to_checkouts as_table
    // Errors.
    read_only foreign_form form_expected too_large too_slow broke_off busy too_often no_page failed unavailable
    wrong_method bad_reason not_open is_under_way nothing_to_decide conflict
    // Logging in.
    log_in log_in_button log_in_more staff_key wrong_key
    // The list.
    needs_person needs_nobody do_first show_all there_are_more newest found find_form find find_hint state any method
    any_method opened_from opened_to which all show clear nothing_found none_yet too_long too_short bad_dates exact
    show_parts searched_to search_on pages newer older to_newest download_list list_too_long totals totals_of
    totals_partly totals_note searched_forward needs_capped way opened reference amount checkout last_payment none for_a_person number
    // Callbacks about payments that nobody knows.
    unknown_callbacks unknown_callbacks_count unknown_callbacks_look unknown_callbacks_none unknown_callbacks_happened
    unknown_callbacks_restored unknown_callbacks_forged unknown_callbacks_do unknown_callbacks_do_gateway
    unknown_callbacks_do_statement unknown_callbacks_do_order unknown_callbacks_do_remove unknown_callbacks_list
    unknown_callbacks_capped unknown_callbacks_status unknown_callbacks_amount unknown_callbacks_last
    unknown_callbacks_first unknown_callbacks_times unknown_callbacks_remove unknown_callbacks_until
    // States.
    co_open co_open_more co_paid co_paid_more co_expired co_expired_more co_cancelled co_cancelled_more prepared
    prepared_more sending sending_more not_made not_made_more unknown unknown_more awaiting awaiting_more confirming
    confirming_more charged charged_more rejected rejected_more mismatch mismatch_more unverifiable unverifiable_more
    stuck overpaid undelivered refused
    // What needs a person, and what to do first.
    need_unknown do_unknown need_mismatch do_mismatch need_unverifiable do_unverifiable need_stuck do_stuck
    need_overpaid do_overpaid need_undelivered do_undelivered need_refused do_refused who_decides nobody_decides
    no_button expected reported expected_beside_reported what order_number currency not_reported differs
    // Claims.
    claim_querying claim_querying_more claim_unknown claim_unknown_more claim_pending claim_pending_more claim_rejected
    claim_rejected_more claim_charged claim_charged_more claim_unverifiable claim_unverifiable_more claim_mismatch
    claim_mismatch_more claim_other claim_other_more
    // Methods.
    pay_form qr mbank megapay card
    // Exchanges with the gateway.
    request_create request_confirm request_status request_callback out_unavailable out_refused out_unauthorized out_misconfigured
    out_unknown out_unexpected out_invalid out_whole out_incomplete out_unreadable out_accepted out_pending
    out_not_understood out_mismatch http_status code
    // Events.
    ev_paid ev_expired ev_cancelled ev_overpaid ev_refund_recorded ev_created ev_sending ev_accepted ev_not_made
    ev_unknown ev_confirming ev_replaced ev_not_confirmed ev_charged ev_rejected ev_mismatch ev_unverifiable
    ev_reviewed ev_resolved ev_stuck ev_later in_payment note_decided note_before note_why note_by note_through
    note_due note_all_back own_key shop_key to_refused to_reads to_kind to_taken to_given_up to_not_yet to_on_its_way
    // A checkout.
    query_now deliver_again refund_title refund_more refund_each refund_reason note_it wanted paid_for payable_until
    ways paid_by payment_n of_shop cancel cancel_more payments nobody_tried payer_page claims carried_out_by named_at
    gateway_says not_said exchanges answers_about when request_kind outcome response times by_claim masked
    decide_title was_made_again was_taken decide_more was_charged was_not_charged how_known decide history nothing_yet
    begun payment gateway_number qr_transaction card_digits phone_digits commission payer_total pin_until
    attempts_left replaced done_checking done_cancelled done_replayed done_refund done_resolved moved not_due say_outcome
    unchanged to_the_shop
    // Day and its report.
    so_far days day_in_bishkek write_day download_charged report_link day_before day_before_whole too_many_to_draw
    charged_by_hour chart_charged chart_ends chart_bars chart_of_charged chart_of_ends charged_by_method count sum
    before before_sum ends_by_hour ends_hint by_hour hour charged_sum too_much report report_made report_partly
    report_charged report_none report_decided report_twice report_open report_open_none report_sign total why
    // Reconciliation.
    unusable from until download compared the_same other_amount twice only_there only_here refund_lines sums
    sum_statement sum_kassa sum_difference sum_fees sum_after_fees fees_unreadable left_out other_days places and_more aside line_n not_shown is_cut
    another_amount more_than_once refunds refunds_more line in_statement_alone in_statement_more here_alone here_more
    charged_at here statement what_charged none_charged two_for_one two_for_one_more compare_title file or_text
    statement_hint which_column columns_are col_date col_fee col_status between most_there comma semicolon tab bar amounts_in
    in_units in_hundredths charged_words columns_hint compare first_before_last write_days too_many_payments
    file_not_written
    // What is wrong with a statement.
    st_format st_xlsx st_xls st_pdf st_web st_1c st_binary st_names_unreadable st_cells st_quotation st_not_utf8 st_at
    st_too_many st_no_column st_same_name st_which_status st_which_number st_which_amount st_whole_line st_more_cells
    st_no_number st_shortened st_no_amount st_ambiguous st_two_currencies st_bad_date st_bad_fee st_refunds_below
    // Heads of CSV files.
    csv_opened csv_charged csv_description csv_decided csv_checkout csv_payment csv_claimed csv_payment_state
    csv_needs yes no
}

/// Those of a language.
pub(in crate::staff) fn texts(language: Language) -> &'static Texts {
    match language {
        Language::Russian => &russian::TEXTS,
        Language::Kyrgyz => &kyrgyz::TEXTS,
        _ => &english::TEXTS,
    }
}

/// A text with values in the place of its braces: in their order, or by their numbers (`{1}`) where a language needs another order.
pub(in crate::staff) fn fill(text: &str, values: &[&dyn Display]) -> String {
    let mut filled = String::with_capacity(text.len() + 16);
    let (mut rest, mut next) = (text, 0);
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (number, behind) = after.split_once('}').unwrap_or((after, ""));
        let value = values.get(number.parse().unwrap_or(next));
        filled.extend(value.map(ToString::to_string));
        (rest, next) = (behind, next + 1);
    }
    filled.push_str(rest);
    filled
}

impl Texts {
    /// The name of a table, for screen readers.
    pub(in crate::staff) fn table(&self, what: &str) -> String {
        fill(self.as_table, &[&what])
    }

    /// A text with one value.
    pub(in crate::staff) fn with(&self, text: &str, value: impl Display) -> String {
        fill(text, &[&value])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_order_or_by_number() {
        assert_eq!(fill("{} of {}", &[&1, &"two"]), "1 of two");
        assert_eq!(fill("{1}, {0}", &[&1, &"two"]), "two, 1");
        assert_eq!(fill("none {}", &[]), "none ");
        assert_eq!(fill("{}", &[&"{}"]), "{}", "a value is no text");
    }
}
