// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

//! The table of faults: what each does, its variant, its constructor, its name, and the moment at which it strikes. The
//! macro hands its rows to another one, which makes of them what it needs.

macro_rules! fault_table {
    ($rows:ident) => {
        $rows! {
            /// The connection is closed before the request takes effect; nothing happens to the money.
            RequestLost, request_lost, "request-lost", Request;
            /// The request takes effect, and the connection is closed without an answer.
            ResponseLost, response_lost, "response-lost", Response;
            /// The request takes effect at once, and is answered late: by `delay_ms`, a second unless given.
            Delay, delay, "delay", Response;
            /// The request takes effect, and the answer's body comes a byte a second.
            Drip, drip, "drip", Response;
            /// The connection is reset on the first line of its first request, where that goes to one of the nine
            /// endpoints; nothing happens to the money.
            ResetOnConnect, reset_on_connect, "reset-on-connect", Connection;
            /// The request takes effect, and the connection is reset before the answer's first byte.
            ResetBeforeResponse, reset_before_response, "reset-before-response", Response;
            /// The request takes effect, and the connection is reset in the middle of the answer's head.
            ResetInHeaders, reset_in_headers, "reset-in-headers", Response;
            /// The request takes effect, and the connection is reset in the middle of the answer's body.
            ResetInBody, reset_in_body, "reset-in-body", Response;
            /// The request takes effect, and an HTML page with HTTP 502 comes back.
            Html502, html_502, "html-502", Response;
            /// The request takes effect, and the answer's body is no JSON.
            NotJson, not_json, "not-json", Response;
            /// The request takes effect, and the answer's body ends in its middle, under a length that says so.
            CutJson, cut_json, "cut-json", Response;
            /// The request takes effect, and the answer's body has no end.
            EndlessBody, endless_body, "endless-body", Response;
            /// The answer's status word is another one: `status`, `ON_HOLD` unless given. Answers without a status word
            /// are left alone.
            UnknownStatus, unknown_status, "unknown-status", Response;
            /// The answer's code is another one: `code`, `999` unless given. Answers without an envelope are left
            /// alone.
            UnknownCode, unknown_code, "unknown-code", Response;
            /// The answer is written in the sandbox's other dialect.
            OtherDialect, other_dialect, "other-dialect", Response;
            /// The payment becomes `PENDING` instead of final, until it is decided by `approve` or `decline`, or
            /// resolves by itself where the clock is set to that.
            StuckPending, stuck_pending, "stuck-pending", Payment;
            /// The request takes effect, and is answered with a redirect (307) to the same endpoint: who follows it
            /// sends the payment twice.
            Redirect, redirect, "redirect", Response;
            /// HTTP 429 with `Retry-After`: `retry_after_s`, a second unless given. Nothing takes effect.
            RetryAfter, retry_after, "retry-after", Request;
            /// HTTP 503, with `Retry-After` where `retry_after_s` is given. Nothing takes effect.
            Unavailable, unavailable, "unavailable", Request;
            /// HTTP 401, whatever the credentials. Nothing takes effect.
            Unauthorized, unauthorized, "unauthorized", Request;
            /// The callback is never sent.
            CallbackLost, callback_lost, "callback-lost", Callback;
            /// The callback is sent late: by `delay_ms`, a second unless given.
            CallbackLate, callback_late, "callback-late", Callback;
            /// The callback is delivered twice.
            CallbackDuplicated, callback_duplicated, "callback-duplicated", Callback;
            /// A callback of a status that is not final is held back until the payment's next one was delivered.
            CallbackOutOfOrder, callback_out_of_order, "callback-out-of-order", Callback;
            /// One more callback, with another amount and the status `CHARGE`, for money that nobody paid.
            CallbackForged, callback_forged, "callback-forged", Callback;
            /// The confirmation is carried out twice at once; where one of the two was refused, that is the answer.
            OtpTwice, otp_twice, "otp-twice", Request;
        }
    };
}
