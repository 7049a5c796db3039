package dev.kassa

import dev.kassa.internal.CardInput as CoreCardInput

/**
 * The input of a card form so far, so that your app need not parse `08/31` itself.
 *
 * Each `with` method takes the text **of the whole field** and returns a new input; this one is unchanged, so it can be the state of a
 * Compose form:
 *
 * ```
 * var card by remember { mutableStateOf(CardInput()) }
 * TextField(card.expiry, onValueChange = { card = card.withExpiry(it) }, isError = card.expiryState is FieldState.Wrong)
 * ```
 *
 * Formatted text is stable: formatting it again changes nothing. The app keeps the cursor position. Keep the input in memory only: it is
 * a secret, and cannot be saved.
 *
 * Digits of any script are accepted; spaces, hyphens and other pasted characters are removed from number, expiry and CVC. The expiry is
 * compared with the current month (UTC), or the one that [asOf] sets. **A CVC has three digits, because that is what the gateway takes**:
 * American Express cards have four and cannot be used.
 *
 * It is never printed, not even its last digits. See [Card] on PCI DSS.
 */
public class CardInput private constructor(private val core: CoreCardInput) {
    /** An empty form. */
    public constructor() : this(calling { CoreCardInput() })

    /** The number, with spaces between groups as the brand prints them. */
    public val number: String get() = calling { core.number() }

    /** The expiry as `08/31`, as far as typed. */
    public val expiry: String get() = calling { core.expiry() }

    /** The digits of the security code. */
    public val cvc: String get() = calling { core.cvc() }

    /** The holder's name as typed. */
    public val holderName: String get() = calling { core.holderName() }

    /** The brand, as soon as the digits show it. */
    public val brand: CardBrand get() = calling { CardBrand.valueOf(core.brand().name) }

    /** The possible numbers of digits for this brand, in ascending order; 13 to 20 if the brand is unknown. */
    public val numberLengths: List<Int> get() = calling { core.numberLengths().map { it.toInt() } }

    /** The state of the number. */
    public val numberState: FieldState get() = calling { core.numberState().toKassa() }

    /** The state of the expiry. */
    public val expiryState: FieldState get() = calling { core.expiryState().toKassa() }

    /** The state of the security code. It has three digits for every brand: the gateway takes no more. */
    public val cvcState: FieldState get() = calling { core.cvcState().toKassa() }

    /** The state of the holder's name: anything but spaces is valid. */
    public val holderNameState: FieldState get() = calling { core.holderNameState().toKassa() }

    /** The same input with this number: the text of the whole field. */
    public fun withNumber(typed: String): CardInput = with { it.withNumber(whole(typed)) }

    /** The same input with this expiry, month first: `08/31`, `8/31`, `0831`, `08-31`, `08 / 2031`. */
    public fun withExpiry(typed: String): CardInput = with { it.withExpiry(whole(typed)) }

    /** The same input with this security code (CVC, CVV). */
    public fun withCvc(typed: String): CardInput = with { it.withCvc(whole(typed)) }

    /** The same input with this holder's name, unchanged. */
    public fun withHolderName(typed: String): CardInput = with { it.withHolderName(whole(typed)) }

    /** The same input, with the expiry compared with this month instead of the current one. The month is 1 to 12. */
    public fun asOf(year: Int, month: Int): CardInput = with { it.asOf(year, month.coerceIn(1, 12).toUByte()) }

    /**
     * The card.
     *
     * @throws PaymentException.Invalid with all violations at once, by the field names of a card payment: `pan`, `expiryMonth`,
     *   `expiryYear`, `cvc` and `name`
     */
    @Throws(PaymentException::class)
    public fun card(): Card = Card(calling { core.card() })

    /** A mask: nothing of the input. */
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
