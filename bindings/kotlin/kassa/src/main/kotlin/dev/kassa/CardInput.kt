package dev.kassa

import dev.kassa.internal.CardInput as CoreCardInput

/**
 * What a payer has typed into a card form so far, so that no app parses `08/31` by itself.
 *
 * Each `with` method takes what stands **in the whole field** and gives a new input; this one stays as it was, so it can be the
 * state of a Compose form:
 *
 * ```
 * var card by remember { mutableStateOf(CardInput()) }
 * TextField(card.expiry, onValueChange = { card = card.withExpiry(it) }, isError = card.expiryState is FieldState.Wrong)
 * ```
 *
 * What was formatted stays as it is. Where the cursor stands is the app's own. Keep it in memory only: it is a secret, and cannot be
 * saved.
 *
 * Digits of any script are read; spaces, hyphens and other characters that come with pasting are left out of number, expiry and
 * CVC. An expiry is judged against today's month (UTC), or the one that [asOf] gives. **A CVC has three digits, because that is
 * what the gateway takes**: American Express prints four, and cannot be paid with here.
 *
 * It is never printed, not even its last digits. See [Card] on PCI DSS.
 */
public class CardInput private constructor(private val core: CoreCardInput) {
    /** An empty form. */
    public constructor() : this(calling { CoreCardInput() })

    /** The number, with spaces between groups as the brand prints them. */
    public val number: String get() = calling { core.number() }

    /** The expiry as `08/31`, or as much of it as was typed. */
    public val expiry: String get() = calling { core.expiry() }

    /** The digits of the security code. */
    public val cvc: String get() = calling { core.cvc() }

    /** The holder's name as it was typed. */
    public val holderName: String get() = calling { core.holderName() }

    /** The brand, as soon as the digits tell it. */
    public val brand: CardBrand get() = calling { CardBrand.valueOf(core.brand().name) }

    /** How many digits a number of this brand can have, the fewest first; 13 to 20 unless the brand is known. */
    public val numberLengths: List<Int> get() = calling { core.numberLengths().map { it.toInt() } }

    /** How far the number is. */
    public val numberState: FieldState get() = calling { core.numberState().toKassa() }

    /** How far the expiry is. */
    public val expiryState: FieldState get() = calling { core.expiryState().toKassa() }

    /** How far the security code is. It has three digits, whatever the brand: the gateway takes no more. */
    public val cvcState: FieldState get() = calling { core.cvcState().toKassa() }

    /** How far the holder's name is: anything but spaces will do. */
    public val holderNameState: FieldState get() = calling { core.holderNameState().toKassa() }

    /** The same with this number: what stands in the whole field. */
    public fun withNumber(typed: String): CardInput = with { it.withNumber(whole(typed)) }

    /** The same with this expiry, month first: `08/31`, `8/31`, `0831`, `08-31`, `08 / 2031`. */
    public fun withExpiry(typed: String): CardInput = with { it.withExpiry(whole(typed)) }

    /** The same with this security code (CVC, CVV). */
    public fun withCvc(typed: String): CardInput = with { it.withCvc(whole(typed)) }

    /** The same with this holder's name, as it is. */
    public fun withHolderName(typed: String): CardInput = with { it.withHolderName(whole(typed)) }

    /** The same, with the expiry judged against this month and not against today. The month is 1 to 12. */
    public fun asOf(year: Int, month: Int): CardInput = with { it.asOf(year, month.coerceIn(1, 12).toUByte()) }

    /**
     * The card.
     *
     * @throws PaymentException.Invalid with all violations at once, by the names that the fields have in a card payment: `pan`,
     *   `expiryMonth`, `expiryYear`, `cvc` and `name`
     */
    @Throws(PaymentException::class)
    public fun card(): Card = Card(calling { core.card() })

    /** Nothing of what was typed. */
    override fun toString(): String = "CardInput(***)"

    private inline fun with(change: (CoreCardInput) -> CoreCardInput) = CardInput(calling { change(core) })
}

/** A keyboard may give an emoji in two halves, and half of one has no form in UTF-8: it is left out until the other comes. */
private fun whole(typed: String): String {
    if (isUnicode(typed)) return typed
    return buildString(typed.length) {
        typed.forEachIndexed { at, char ->
            val isHalf = when {
                char.isHighSurrogate() -> typed.getOrNull(at + 1)?.isLowSurrogate() != true
                char.isLowSurrogate() -> typed.getOrNull(at - 1)?.isHighSurrogate() != true
                else -> false
            }
            if (!isHalf) append(char)
        }
    }
}
