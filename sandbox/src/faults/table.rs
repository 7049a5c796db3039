// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

//! The table of faults: what each does, its variant, its constructor, its name, and when it is injected. The macro
//! hands its rows to another one, which makes of them what it needs.

macro_rules! fault_table {
    ($rows:ident) => {
        $rows! {
            /// The connection is closed before the request takes effect; no money moves.
            RequestLost, request_lost, "request-lost", Request;
            /// The request takes effect, and the connection is closed without a response.
            ResponseLost, response_lost, "response-lost", Response;
            /// The request takes effect immediately, and the response is delayed by `delay_ms`, by default one second.
            Delay, delay, "delay", Response;
            /// The request takes effect, and the response body arrives at one byte per second.
            Drip, drip, "drip", Response;
            /// The connection is reset after the first line of its first request, if that request is for one of the
            /// gateway's endpoints; no money moves.
            ResetOnConnect, reset_on_connect, "reset-on-connect", Connection;
            /// The request takes effect, and the connection is reset before the first byte of the response.
            ResetBeforeResponse, reset_before_response, "reset-before-response", Response;
            /// The request takes effect, and the connection is reset in the middle of the response headers.
            ResetInHeaders, reset_in_headers, "reset-in-headers", Response;
            /// The request takes effect, and the connection is reset in the middle of the response body.
            ResetInBody, reset_in_body, "reset-in-body", Response;
            /// The request takes effect, and the response is an HTML page with HTTP 502.
            Html502, html_502, "html-502", Response;
            /// The request takes effect, and the response body is not JSON.
            NotJson, not_json, "not-json", Response;
            /// The request takes effect, and the response body is truncated, with a length that matches the truncated
            /// body.
            CutJson, cut_json, "cut-json", Response;
            /// The request takes effect, and the response body never ends.
            EndlessBody, endless_body, "endless-body", Response;
            /// The status word of the response is replaced by `status`, by default `ON_HOLD`. Responses without a
            /// status word are unchanged.
            UnknownStatus, unknown_status, "unknown-status", Response;
            /// The code of the response is replaced by `code`, by default `999`. Responses without an envelope are
            /// unchanged.
            UnknownCode, unknown_code, "unknown-code", Response;
            /// The response uses the sandbox's other dialect.
            OtherDialect, other_dialect, "other-dialect", Response;
            /// The payment becomes `PENDING` instead of final, until it is decided by `approve` or `decline`, or
            /// becomes final automatically if the clock is set to do so.
            StuckPending, stuck_pending, "stuck-pending", Payment;
            /// The request takes effect, and the response is a redirect (307) to the same endpoint: a client that
            /// follows it sends the payment twice.
            Redirect, redirect, "redirect", Response;
            /// HTTP 429 with `Retry-After` set to `retry_after_s`, by default one second. The request has no effect.
            RetryAfter, retry_after, "retry-after", Request;
            /// HTTP 503, with `Retry-After` if `retry_after_s` is given. The request has no effect.
            Unavailable, unavailable, "unavailable", Request;
            /// HTTP 401, regardless of the credentials. The request has no effect.
            Unauthorized, unauthorized, "unauthorized", Request;
            /// The callback is never sent.
            CallbackLost, callback_lost, "callback-lost", Callback;
            /// The callback is delayed by `delay_ms`, by default one second.
            CallbackLate, callback_late, "callback-late", Callback;
            /// The callback is delivered twice.
            CallbackDuplicated, callback_duplicated, "callback-duplicated", Callback;
            /// A callback for a status that is not final is held back until the payment's next callback has been
            /// delivered.
            CallbackOutOfOrder, callback_out_of_order, "callback-out-of-order", Callback;
            /// An additional callback with a different amount and the status `CHARGE`, although nobody paid.
            CallbackForged, callback_forged, "callback-forged", Callback;
            /// The confirmation is executed twice concurrently; if one of the two is refused, the response is that
            /// refusal.
            OtpTwice, otp_twice, "otp-twice", Request;
        }
    };
}
