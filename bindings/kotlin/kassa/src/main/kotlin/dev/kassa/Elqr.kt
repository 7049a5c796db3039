package dev.kassa

import dev.kassa.internal.parseElqr
import java.net.URI
import dev.kassa.internal.Elqr as CoreElqr
import dev.kassa.internal.ElqrField as CoreElqrField
import dev.kassa.internal.ElqrKind as CoreElqrKind

/**
 * A payment code in ELQR, the format that the apps of all banks in Kyrgyzstan read.
 *
 * The text of a code is a link: the part before its `#` opens an app, and the code itself follows. [parse] parses a text, [text] writes
 * one, and [check] tells whether the code is for the right amount:
 *
 * ```
 * val code = Elqr(ElqrKind.DYNAMIC, "qr.example.kg", payee = "SHOP", mcc = "5812", serviceCode = "02", amountTyiyn = 39_000)
 * val read = Elqr.parse(code.text())
 * check(read == code)
 * read.check(39_000)
 * ```
 *
 * To write a code, set a [serviceCode] or a [merchantId], and for a dynamic code an [amountTyiyn].
 *
 * **The checksum detects mistakes, not forgery**: anybody can make a code with a right one. Show only codes from your gateway's answers.
 *
 * @property kind whether it is for one payment (tag 01)
 * @property provider the payment system of the payee, such as `qr.example.kg` (tag 32.00)
 * @property payee the payee's name for the payer (tag 59)
 * @property mcc the merchant category code of ISO 18245 (tag 52)
 * @property serviceCode the provider's code of the service (tag 32.01)
 * @property amountTyiyn the amount in **tyiyn** (tag 54). Some codes without an amount say 0
 * @property recipient the payee's number at the provider: a phone number or an account (tag 32.10)
 * @property transaction the provider's transaction number; some write another text here (tag 32.11)
 * @property amountEditable whether the payer may change the amount (tag 32.12)
 * @property recipientEditable whether the payer may change the payee's number (tag 32.13)
 * @property merchantId the merchant's number (tag 33.00)
 * @property merchantService the name of the merchant's service (tag 33.01)
 * @property comment a comment on the payment (tag 34)
 * @property fields further fields (tags 35 to 39)
 * @property currency the currency by its number in ISO 4217: `417` is the som (tag 53)
 * @property link the link before the `#`; empty if there is none. It decides which app opens: see [bankLinks]
 * @property other other fields by their tags. [text] does not write them
 * @property checksumOk whether the checksum matches the text (tag 63). If not, the code was damaged or changed
 */
public data class Elqr @JvmOverloads constructor(
    public val kind: ElqrKind,
    public val provider: String,
    public val payee: String,
    public val mcc: String,
    public val serviceCode: String? = null,
    public val amountTyiyn: Long? = null,
    public val recipient: String? = null,
    public val transaction: String? = null,
    public val amountEditable: Boolean? = null,
    public val recipientEditable: Boolean? = null,
    public val merchantId: String? = null,
    public val merchantService: String? = null,
    public val comment: String? = null,
    public val fields: List<ElqrField> = emptyList(),
    public val currency: String = "417",
    public val link: String = "https://pay.payqr.kg/",
    public val other: List<ElqrField> = emptyList(),
    public val checksumOk: Boolean = true,
) {
    /**
     * The text of the code with a new checksum, to be drawn with [QrCode] or opened as a link.
     *
     * @throws PaymentException.Invalid with everything that the format does not allow
     */
    @Throws(PaymentException::class)
    public fun text(): String = calling { toCore().text() }

    /**
     * Checks that the code is for this amount in **tyiyn**: the checksum is right, the currency is the som, and the amount
     * matches. If [amountEditable] is true, the payer may still pay another amount.
     *
     * @throws PaymentException.Invalid with everything that differs
     */
    @Throws(PaymentException::class)
    public fun check(amountTyiyn: Long): Unit = calling { toCore().check(amountTyiyn) }

    /**
     * Links that open the code in a bank's app, one per bank, for a phone that shows the code itself. The first is for any bank. Some
     * URLs come only from public lists.
     *
     * @throws PaymentException.Invalid as for [text]
     */
    @Throws(PaymentException::class)
    public fun bankLinks(): List<BankLink> = calling { toCore().bankLinks().map { BankLink(it.bank, checkedUri(it.url)) } }

    /** Reads codes. */
    public companion object {
        /**
         * Parses the text of a code: a link with the code after its `#`, percent-encoded or not, or only the code.
         *
         * A wrong checksum or a foreign currency is accepted here and reported in [checksumOk] and [currency]; [check] refuses both.
         *
         * @throws PaymentException.Invalid if the text is not ELQR or is damaged; the error names the tag and the rule
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun parse(text: String): Elqr = calling { parseElqr(sendable("elqr", text)).toKassa() }
    }
}

/** Whether a code is for one payment. */
public enum class ElqrKind {
    /** A code for any number of payments, such as a sticker at a checkout counter. */
    STATIC,

    /** A code for one payment. */
    DYNAMIC;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = calling { toCore().asText() }
}

/**
 * An additional field of a code (tags 35 to 39), such as a table number; or one with an unknown tag.
 *
 * @property tag the tag and the sub-tag, such as `35.00`
 * @property text the whole value. For an additional field: `key:label:value:title:visible`, where `visible` is `11` for yes and `12` for
 *   no
 */
public data class ElqrField(public val tag: String, public val text: String)

/**
 * A link that opens a code in the app of a bank.
 *
 * @property bank the name of the bank or wallet; `ELQR` for any of them
 * @property url the link
 */
public data class BankLink(public val bank: String, public val url: URI)

private fun Elqr.toCore() = CoreElqr(
    link = sendable("link", link),
    kind = kind.toCore(),
    provider = sendable("provider", provider),
    serviceCode = sendable("service_code", serviceCode),
    recipient = sendable("recipient", recipient),
    transaction = sendable("transaction", transaction),
    amountEditable = amountEditable,
    recipientEditable = recipientEditable,
    merchantId = sendable("merchant_id", merchantId),
    merchantService = sendable("merchant_service", merchantService),
    comment = sendable("comment", comment),
    fields = fields.map { it.toCore("fields") },
    mcc = sendable("mcc", mcc),
    currency = sendable("currency", currency),
    amountTyiyn = amountTyiyn,
    payee = sendable("payee", payee),
    other = other.map { it.toCore("other") },
    checksumOk = checksumOk,
)

private fun CoreElqr.toKassa() = Elqr(
    kind = kind.toKassa(),
    provider = provider,
    payee = payee,
    mcc = mcc,
    serviceCode = serviceCode,
    amountTyiyn = amountTyiyn,
    recipient = recipient,
    transaction = transaction,
    amountEditable = amountEditable,
    recipientEditable = recipientEditable,
    merchantId = merchantId,
    merchantService = merchantService,
    comment = comment,
    fields = fields.map { it.toKassa() },
    currency = currency,
    link = link,
    other = other.map { it.toKassa() },
    checksumOk = checksumOk,
)

private fun ElqrField.toCore(name: String) = CoreElqrField(sendable(name, tag), sendable(name, text))

private fun CoreElqrField.toKassa() = ElqrField(tag, text)

// By their names, which are those of the core: a test sees that none is missing.
private fun ElqrKind.toCore() = CoreElqrKind.valueOf(name)

private fun CoreElqrKind.toKassa() = ElqrKind.valueOf(name)
