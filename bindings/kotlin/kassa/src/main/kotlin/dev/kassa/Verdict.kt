package dev.kassa

import java.io.InvalidObjectException
import java.io.ObjectInputStream
import java.io.Serializable
import dev.kassa.internal.Verdict as CoreVerdict

/**
 * The gateway's report on a payment, compared with the request. **Only [Charged] is a reason to ship.**
 *
 * Every status check returns one: a single query ([Gateway.check]), polling ([Gateway.watch]), and the verification of a callback or a
 * return ([Gateway.verifyCallback], [Gateway.verifyReturn]).
 *
 * ```
 * when (val verdict = gateway.check(payment)) {
 *     is Verdict.Charged -> ship(verdict.payment)
 *     is Verdict.Rejected -> tellThePayer(verdict.report.reason)
 *     is Verdict.Pending -> watch(verdict.payment)
 *     is Verdict.Mismatch, is Verdict.Unverifiable -> letAPersonLook(verdict)
 * }
 * ```
 *
 * It is [Serializable], and is read back as the same type.
 */
public sealed class Verdict : WatchReport, Serializable {
    /** The payment that it is about. */
    public abstract val payment: PaymentRef

    /** The gateway's own report, if it was queried. */
    public abstract val report: StatusReport?

    /** True if the money was taken and nothing contradicts the request: only for [Charged]. */
    public val isCharged: Boolean get() = this is Charged

    /**
     * The money was taken, nothing contradicts the request, and data of the merchant's ties the report to this payment: its number or, if
     * the number was only claimed, the amount.
     *
     * **One payment pays for one order**: if the number was only claimed (a pay-form's always is), store it, and accept it for no other
     * order (replay).
     *
     * @property payment the payment, with the number by which it was found
     * @property report the gateway's own report
     * @property compared the fields of the report that match the request: `orderNumber`, `amount`, `currency`. Also `code.amount` if the
     *   report of a QR payment has no amount: its transaction was in the code that the payer was shown, and that code has the requested
     *   amount, which the payer cannot change
     */
    public data class Charged(
        override val payment: PaymentRef,
        override val report: StatusReport,
        public val compared: List<String>,
    ) : Verdict() {
        private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(payment, report, compared) }
    }

    /**
     * The payment ended without the money being taken. On a pay-form the payer may try again.
     *
     * @property payment the payment, with the number by which it was found
     * @property report the gateway's own report
     */
    public data class Rejected(override val payment: PaymentRef, override val report: StatusReport) : Verdict() {
        private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(payment, report) }
    }

    /**
     * The gateway says that the payment is still pending. Watch it.
     *
     * @property payment the payment to watch, with the number by which it was found
     * @property report the gateway's own report
     */
    public data class Pending(override val payment: PaymentRef, override val report: StatusReport) : Verdict() {
        private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(payment, report) }
    }

    /**
     * The report, the callback or the return is about another order, amount or currency than the request. Do not act on it; let a person
     * look.
     *
     * @property payment the payment, with the number by which it was found
     * @property fields the fields that differ, by their names in the interface
     * @property report the gateway's own report, if it was queried
     */
    public data class Mismatch @JvmOverloads constructor(
        override val payment: PaymentRef,
        public val fields: List<String>,
        override val report: StatusReport? = null,
    ) : Verdict() {
        private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(payment, fields) }
    }

    /**
     * Nothing can be proved: there is no number to query by, or the report is not tied to this payment.
     *
     * @property payment the payment, with the number by which it was found
     * @property why what is missing
     * @property report the gateway's own report, if it was queried
     */
    public data class Unverifiable @JvmOverloads constructor(
        override val payment: PaymentRef,
        public val why: String,
        override val report: StatusReport? = null,
    ) : Verdict() {
        private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(payment, why) }
    }
}

/** A stream that lacks a field leaves null in it, past the constructor and Kotlin's types: nobody should act on such a value. */
internal fun whole(stream: ObjectInputStream, needed: () -> List<Any?>) {
    stream.defaultReadObject()
    if (null in needed()) throw InvalidObjectException("a field is missing")
}

internal fun CoreVerdict.toKassa(): Verdict = when (this) {
    is CoreVerdict.Charged -> Verdict.Charged(payment.toKassa(), report.toKassa(), compared)
    is CoreVerdict.Rejected -> Verdict.Rejected(payment.toKassa(), report.toKassa())
    is CoreVerdict.Pending -> Verdict.Pending(payment.toKassa(), report.toKassa())
    is CoreVerdict.Mismatch -> Verdict.Mismatch(payment.toKassa(), fields, report?.toKassa())
    is CoreVerdict.Unverifiable -> Verdict.Unverifiable(payment.toKassa(), why, report?.toKassa())
}
