package dev.kassa

import dev.kassa.internal.parseReturnRedirect
import java.net.URI
import dev.kassa.internal.ReturnRedirect as CoreReturnRedirect

/**
 * The payer's return from the gateway's pages: to a page of the merchant, or by deep link to an app.
 *
 * **It is only a hint**: anybody can forge one. The gateway decides: query it with [Gateway.verifyReturn], or make a running watch query
 * at once ([StatusWatch.checkNow]).
 *
 * @property orderNumber the order number, from `OrderNumber`
 * @property statusCode the status code, from `statusCode`; `200` on success. Any text is accepted
 */
public data class ReturnRedirect @JvmOverloads constructor(
    public val orderNumber: String,
    public val statusCode: String? = null,
) {
    /** Reads return redirects. */
    public companion object {
        /**
         * Parses the URL that the payer came back to. If a parameter occurs twice, the last one counts: the gateway appends its own after
         * the merchant's.
         *
         * The gateway's parameters are also found in a badly assembled URL: after a `#`, after a second `?`, after `&amp;` or `;`, and
         * after a `&` without any `?`.
         *
         * @throws PaymentException.Invalid if the text is not an absolute URI, or names no order
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun parse(url: String): ReturnRedirect = calling {
            val redirect = parseReturnRedirect(sendable("returnUrl", url))
            ReturnRedirect(redirect.orderNumber, redirect.statusCode)
        }

        /**
         * Reads the URL that the payer came back to.
         *
         * @throws PaymentException.Invalid if it is not absolute, or names no order
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun parse(url: URI): ReturnRedirect = parse(url.toString())
    }
}

internal fun ReturnRedirect.toCore() = CoreReturnRedirect(sendable("OrderNumber", orderNumber), sendable("statusCode", statusCode))
