package dev.kassa

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.future.await
import kotlinx.coroutines.launch
import java.util.concurrent.CompletionStage
import java.util.concurrent.Executor
import java.util.function.Supplier
import dev.kassa.internal.AsyncCall
import dev.kassa.internal.FfiConverterTypeCheckoutState
import dev.kassa.internal.Receipt
import dev.kassa.internal.await
import dev.kassa.internal.readOptional
import dev.kassa.internal.Checkout as CoreCheckout
import dev.kassa.internal.CheckoutStates as CoreCheckoutStates

/**
 * One checkout from its payer's side: the state for a payment screen ([CheckoutState]) and the payer's actions. It talks to the
 * merchant's server (`kassa-server`) with a client token that opens only this checkout, so **the app contains no credentials of the
 * merchant**.
 *
 * It polls the checkout until it is closed. Actions return at once, on any thread; their result is a new state. A failed request to the
 * server is retried with the same idempotency key and shown as a message: **a network error never causes a double payment, and never
 * shows a payment as failed.** After the app was killed, open the checkout again with its token, and it continues where it was. Everybody
 * who has the checkout open sees the same state.
 *
 * ```
 * class PaymentModel(serverUrl: String, clientToken: String) : ViewModel() {
 *     private val checkout = Checkout.open(serverUrl, clientToken) { shop.newClientToken() }
 *     val state = checkout.states.stateIn(viewModelScope, SharingStarted.Eagerly, checkout.state)
 *
 *     fun onPhoneEntered(phone: String) = checkout.payByMbank(phone)
 *     fun onCodeEntered(code: String) = checkout.confirm(code)
 *     fun onResume() = checkout.checkNow()
 *     override fun onCleared() = checkout.close()
 * }
 * ```
 *
 * The state [CheckoutState.Paid] is the server's report, which an app can show. **The shop delivers on the server's event, never because
 * an app says so.**
 *
 * An action that does not fit the state, or whose input breaks a rule, throws [PaymentException.Invalid] (with [Rule.STATE] if the state
 * is the reason): nothing was sent then. After [close] an action throws [PaymentException.Misconfigured].
 */
public class Checkout private constructor(private val serverUrl: String, internal val core: CoreCheckout) : AutoCloseable {
    private val renewal = TokenRenewal(core)

    /** The current state. */
    public val state: CheckoutState get() = calling { core.state().toKassa() }

    /** The checkout's details; null until the server has answered. They never change. */
    public val details: CheckoutDetails? get() = calling { core.details()?.toKassa() }

    /**
     * The states as they change: the current one first, then each new one. They end when the checkout is closed.
     *
     * It is a cold flow, and each collector gets all states. A state that was replaced before a slow collector read it is skipped.
     * Cancelling a collector stops only that collector: the checkout is still polled.
     *
     * ```
     * checkout.states.collect { state -> show(state) }
     * ```
     */
    public val states: Flow<CheckoutState> = flow {
        calling { core.states() }.use { states ->
            while (true) emit(awaited { next(states, it) } ?: break)
        }
    }

    /**
     * Pays by the mobile bank, which sends a one-time password to this phone; [confirm] takes it.
     *
     * @param phone the phone number in any common notation; it is normalized with [Kassa.normalizedPhone] before sending: show the result
     *   to the payer first
     * @throws PaymentException.Invalid if the state does not allow it ([Rule.STATE]), or if it is not a phone number
     */
    @Throws(PaymentException::class)
    public fun payByMbank(phone: String): Unit = calling { core.payByMbank(sendable("phone", phone)) }

    /**
     * Pays from a MegaPay wallet: a PIN is sent to this phone, and [CheckoutState.EnterOtp] has the commission and the total; [confirm]
     * takes the PIN.
     *
     * @param phone the wallet's phone number, as for [payByMbank]
     * @throws PaymentException.Invalid if the state does not allow it ([Rule.STATE]), or if it is not a phone number
     */
    @Throws(PaymentException::class)
    public fun payByMegapay(phone: String): Unit = calling { core.payByMegapay(sendable("phone", phone)) }

    /**
     * Confirms the payment with the code that the payer received: the one-time password of the mobile bank, or the PIN of the wallet.
     * Spaces, hyphens and invisible characters are removed.
     *
     * @throws PaymentException.Invalid if no code is expected ([Rule.STATE]), or if it is empty or has no digit
     */
    @Throws(PaymentException::class)
    public fun confirm(otp: String): Unit = calling { core.confirm(sendable("otp", otp)) }

    /**
     * Pays by card. **A card form in an app puts the merchant under PCI DSS**; payers can also pay by card on the gateway's own page
     * ([payByForm]).
     *
     * @throws PaymentException.Invalid if the state does not allow it ([Rule.STATE]; also if the server accepts no cards), or with all
     *   violations of the card
     */
    @Throws(PaymentException::class)
    public fun payByCard(card: Card): Unit = calling { core.payByCard(card.core) }

    /**
     * Creates a QR code to pay with: [CheckoutState.ShowQr].
     *
     * @throws PaymentException.Invalid if the state does not allow it ([Rule.STATE])
     */
    @Throws(PaymentException::class)
    public fun payByQr(): Unit = calling { core.payByQr() }

    /**
     * Creates a pay-form, the gateway's own page where the payer chooses a method: [CheckoutState.OpenPage].
     *
     * @throws PaymentException.Invalid if the state does not allow it ([Rule.STATE])
     */
    @Throws(PaymentException::class)
    public fun payByForm(): Unit = calling { core.payByForm() }

    /**
     * The payer wants another number or payment method than that of the open payment. The state becomes [CheckoutState.Ready] with
     * `canKeepMethod`. **Nothing is sent yet, and the open payment can still be paid**; the `payBy...` that follows replaces it. If it
     * ends meanwhile, that is shown at once. An app that was killed during the choice shows the open payment again.
     *
     * @throws PaymentException.Invalid if the state has no `canChangeMethod`, or it is false ([Rule.STATE])
     */
    @Throws(PaymentException::class)
    public fun changeMethod(): Unit = calling { core.changeMethod() }

    /**
     * The payer keeps the open payment: its state is shown again.
     *
     * @throws PaymentException.Invalid if no other method is being chosen ([Rule.STATE])
     */
    @Throws(PaymentException::class)
    public fun keepMethod(): Unit = calling { core.keepMethod() }

    /**
     * Tell the checkout that the app has opened the page of [CheckoutState.OpenPage], so that it is not opened automatically again when
     * the state changes.
     */
    public fun pageOpened(): Unit = calling { core.pageOpened() }

    /**
     * The payer came back from a page, by a deep link or by closing it: the gateway is queried at once. **The link's content is not
     * trusted**, so you need not read it.
     */
    public fun cameBack(): Unit = calling { core.cameBack() }

    /**
     * Queries the gateway at once, and runs pending retries at once: for an app that returns to the foreground (`onResume`), and for a
     * button.
     */
    public fun checkNow(): Unit = calling { core.checkNow() }

    /**
     * Continues with a new client token of the same checkout: after [CheckoutState.TokenExpired], if the checkout was opened without a
     * renewal function. A text that cannot be a client token, such as an API key of the shop, is not sent, and a message says so
     * ([MessageTopic.TOKEN_NOT_RENEWED]).
     *
     * @throws PaymentException.Invalid if it contains an unpaired surrogate, which is not valid text
     */
    @Throws(PaymentException::class)
    public fun renewToken(clientToken: String): Unit = calling { core.renewToken(sendable("client_token", clientToken)) }

    /**
     * Calls a listener with the states as they change, on an executor, for Java: those of [states].
     *
     * ```java
     * CheckoutListening listening = checkout.listen(ContextCompat.getMainExecutor(this), this::show);
     * ```
     *
     * @return closing it stops the calls; the end of the states does, too
     */
    public fun listen(executor: Executor, listener: CheckoutListener): CheckoutListening {
        val listening = CoroutineScope(executor.asCoroutineDispatcher()).launch {
            states.collect(listener::stateChanged)
            listener.ended()
        }
        return CheckoutListening(listening)
    }

    /**
     * Stops polling and token renewal, and ends the states. **A payment that was sent continues at the server**; opening the checkout
     * again shows its state. Closing it again does nothing.
     */
    override fun close() {
        renewal.stop()
        calling { core.stop() }
    }

    private suspend fun next(states: CoreCheckoutStates, receipt: Receipt): CheckoutState? = calling {
        await(AsyncCall.CheckoutStatesNext(states), receipt) { answer ->
            answer.readOptional { FfiConverterTypeCheckoutState.read(it).toKassa() }
        }
    }

    /** The server and the kind of state, without the token or the URL of a page. */
    override fun toString(): String = "Checkout($serverUrl, ${state.kind})"

    /** Opens checkouts. */
    public companion object {
        /**
         * Opens a checkout of the merchant's server with a client token, and begins to poll it. The states tell whether the server is
         * reachable and accepts the token.
         *
         * @param serverUrl the server's address: https, or http to a loopback address
         * @param clientToken the client token that the shop's back end got from the server for this checkout, `ct_…`
         * @throws PaymentException.Misconfigured if the address is invalid, the token cannot be a client token (for example, it is an API
         *   key of the shop), or a setting is invalid; the error names it
         * @throws PaymentException.Invalid if a text contains an unpaired surrogate, which is not valid text
         */
        @JvmStatic
        @JvmOverloads
        @Throws(PaymentException::class)
        public fun open(
            serverUrl: String,
            clientToken: String,
            settings: CheckoutSettings = CheckoutSettings(),
        ): Checkout = calling {
            val core = CoreCheckout.open(
                sendable("server_url", serverUrl), sendable("client_token", clientToken), settings.toCore(),
            )
            Checkout(serverUrl, core)
        }

        /**
         * The same, with a function that gets a new client token from the shop's back end. It is called when the old token expires (after
         * 15 minutes by default), on `Dispatchers.Default`, one call at a time.
         *
         * If it throws, a message says so ([MessageTopic.TOKEN_NOT_RENEWED], with the exception's message as the reason), and it is
         * called again later. Closing the checkout cancels it. The state [CheckoutState.TokenExpired] does not occur.
         *
         * ```
         * val checkout = Checkout.open("https://pay.shop.example.kg", clientToken) { shop.newClientToken() }
         * ```
         *
         * @param renewToken returns a new client token of the same checkout
         * @throws PaymentException as the overload without it
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun open(
            serverUrl: String,
            clientToken: String,
            settings: CheckoutSettings = CheckoutSettings(),
            renewToken: suspend () -> String,
        ): Checkout = open(serverUrl, clientToken, settings).apply { renewal.start(renewToken) }

        /**
         * The same for Java, with a future instead of a suspend function.
         *
         * ```java
         * Checkout checkout = Checkout.open(serverUrl, clientToken, new CheckoutSettings(), shop::newClientToken);
         * ```
         *
         * @param renewToken returns a future with a new client token of the same checkout. Closing the checkout cancels it
         * @throws PaymentException as the overload without it
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun open(
            serverUrl: String,
            clientToken: String,
            settings: CheckoutSettings,
            renewToken: Supplier<out CompletionStage<String>>,
        ): Checkout = open(serverUrl, clientToken, settings).apply { renewal.start { renewToken.get().await() } }
    }
}
