package dev.kassa.sandbox

/**
 * The sandbox's behaviour where the gateway's interface is not specified.
 *
 * @property reusedOrderNumber how a reused order number is treated
 * @property statusNumbers which numbers the two status endpoints know
 * @property threeDs1Page whether 3DS 1.0 cards get a confirmation page, too
 * @property redirectDeclines whether a declined payer is redirected to the return URL, too
 * @property language the language of messages if a request names none
 * @property actsAs which gateway's responses the sandbox gives
 * @property mbankQuid for FINIPAY: where a confirmation carries the `quid` of an MBank payment
 */
public data class SwitchValues(
    public val reusedOrderNumber: ReusedOrderNumber,
    public val statusNumbers: StatusNumbers,
    public val threeDs1Page: Boolean,
    public val redirectDeclines: Boolean,
    public val language: PageLanguage,
    public val actsAs: DialectName,
    public val mbankQuid: MbankQuid,
)

/** The sandbox's switches. [Sandbox.reset] puts them back to how they stood at the start. */
public class Switches internal constructor(private val admin: () -> Admin) {
    /** The current values. */
    public fun read(): SwitchValues = switchValues(admin().request("GET", "switches"))

    /** Changes the given values from the next request on; returns the values after that. */
    public fun change(
        reusedOrderNumber: ReusedOrderNumber? = null,
        statusNumbers: StatusNumbers? = null,
        threeDs1Page: Boolean? = null,
        redirectDeclines: Boolean? = null,
        language: PageLanguage? = null,
        actsAs: DialectName? = null,
        mbankQuid: MbankQuid? = null,
    ): SwitchValues = switchValues(
        admin().request(
            "PATCH",
            "switches",
            objectOf(
                "reused_order_number" to reusedOrderNumber,
                "status_numbers" to statusNumbers,
                "three_ds_1_page" to threeDs1Page,
                "redirect_declines" to redirectDeclines,
                "language" to language,
                "acts_as" to actsAs,
                "mbank_quid" to mbankQuid,
            ),
        ),
    )

    /** Sets them all, for Java: change a copy of what [read] says. */
    public fun set(values: SwitchValues): SwitchValues = with(values) {
        change(reusedOrderNumber, statusNumbers, threeDs1Page, redirectDeclines, language, actsAs, mbankQuid)
    }
}
