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
import dev.kassa.internal.Checkout as CoreCheckout

/**
 * One checkout, as its payer's app pays it: what a payment screen shows ([CheckoutState]) and what the payer can do. It talks to the
 * merchant's server (`kassa-server`) with a client token that opens this one checkout, so **an app holds no secret of the merchant's**.
 *
 * It follows the checkout by itself, from when it is opened until it is closed. Actions return at once, on any thread; what comes of them is
 * a state. Whatever fails between app and server is tried again with the same idempotency key, and shown as a message: **never is anything
 * paid twice, and never is a payment called failed, because of the network.** An app that was killed opens the checkout again with its
 * token, and is where it was. Everybody who has it open sees the same.
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
 * The state [CheckoutState.Paid] is the server's word, which an app can show. **The shop delivers by the server's event, never because an
 * app says so.**
 *
 * An action that does not fit the state, or whose input breaks a rule, throws [PaymentException.Invalid], with [Rule.STATE] where it is the
 * state: nothing was sent then. After [close] an action throws [PaymentException.Misconfigured].
 */
public class Checkout private constructor(private val serverUrl: String, internal val core: CoreCheckout) : AutoCloseable {
    private val renewal = TokenRenewal(core)

    /** Where it stands now. */
    public val state: CheckoutState get() = calling { core.state().toKassa() }

    /** What is to be paid; null before the server has answered. It never changes. */
    public val details: CheckoutDetails? get() = calling { core.details()?.toKassa() }

    /**
     * The states as they come: the one of now first, then each that is another one. They end when the checkout is closed.
     *
     * It is a cold flow, and every collection has all states for itself. One that was replaced before a slow collector took it is left out.
     * Cancelling the collector stops its wait at once, and ends nothing else: the checkout is followed all the same.
     *
     * ```
     * checkout.states.collect { state -> show(state) }
     * ```
     */
    public val states: Flow<CheckoutState> = flow {
        calling { core.states() }.use { states ->
            while (true) emit(onDefault { calling { states.next()?.toKassa() } } ?: break)
        }
    }

    /**
     * Pays by the mobile bank: it sends a one-time password to this phone, which [confirm] takes.
     *
     * @param phone as people write it and phones give it: what is sent is [Kassa.normalizedPhone] of it, to be shown before
     * @throws PaymentException.Invalid where this does not fit the state ([Rule.STATE]), or where it is no phone number
     */
    @Throws(PaymentException::class)
    public fun payByMbank(phone: String): Unit = calling { core.payByMbank(sendable("phone", phone)) }

    /**
     * Confirms the payment by the mobile bank with the one-time password that the payer got, as the message shows it: spaces, hyphens
     * and marks that are not seen are left out.
     *
     * @throws PaymentException.Invalid where none is awaited ([Rule.STATE]), or where none is given or it has no digit
     */
    @Throws(PaymentException::class)
    public fun confirm(otp: String): Unit = calling { core.confirm(sendable("otp", otp)) }

    /**
     * Pays by a card. **A form for card numbers in an app puts the merchant under PCI DSS**; on the gateway's own page ([payByForm]) payers
     * pay by card too.
     *
     * @throws PaymentException.Invalid where this does not fit the state ([Rule.STATE]; also where the server takes no cards), or with
     *   everything that is wrong with the card
     */
    @Throws(PaymentException::class)
    public fun payByCard(card: Card): Unit = calling { core.payByCard(card.core) }

    /**
     * Makes a QR code to pay by: [CheckoutState.ShowQr].
     *
     * @throws PaymentException.Invalid where this does not fit the state ([Rule.STATE])
     */
    @Throws(PaymentException::class)
    public fun payByQr(): Unit = calling { core.payByQr() }

    /**
     * Makes a page of the gateway's, where the payer chooses how to pay: [CheckoutState.OpenPage].
     *
     * @throws PaymentException.Invalid where this does not fit the state ([Rule.STATE])
     */
    @Throws(PaymentException::class)
    public fun payByForm(): Unit = calling { core.payByForm() }

    /**
     * The payer wants another number, or another way to pay, than that of the open payment: the state becomes [CheckoutState.Ready] with
     * `canKeepMethod`. **Nothing is sent yet, and the open payment can still be paid**; the `payBy...` that follows replaces it. What
     * becomes of it meanwhile is shown at once. An app that was killed while its payer chose shows the open payment again.
     *
     * @throws PaymentException.Invalid where the state has no `canChangeMethod`, or it is false ([Rule.STATE])
     */
    @Throws(PaymentException::class)
    public fun changeMethod(): Unit = calling { core.changeMethod() }

    /**
     * The payer stays with the open payment after all: its state is shown again.
     *
     * @throws PaymentException.Invalid where nothing is being changed ([Rule.STATE])
     */
    @Throws(PaymentException::class)
    public fun keepMethod(): Unit = calling { core.keepMethod() }

    /**
     * The app has opened the page of [CheckoutState.OpenPage]: it is not to be opened by itself again, whatever else of the state
     * changes.
     */
    public fun pageOpened(): Unit = calling { core.pageOpened() }

    /**
     * The payer came back from a page, by a deep link or by closing it: the gateway is asked at once. **What the link says is not
     * believed**, so it needs not be read.
     */
    public fun cameBack(): Unit = calling { core.cameBack() }

    /**
     * Has the gateway asked at once, and tries again at once what waits for a next try: for an app that has come back to the front
     * (`onResume`), and for a button.
     */
    public fun checkNow(): Unit = calling { core.checkNow() }

    /**
     * Goes on with another client token of the same checkout: after [CheckoutState.TokenExpired], where the checkout was opened without a
     * function that renews it. A text that can be none, such as an API key of the shop's, is sent to nobody, and a message says so
     * ([MessageTopic.TOKEN_NOT_RENEWED]).
     *
     * @throws PaymentException.Invalid where it has half a surrogate pair in it, which is no text
     */
    @Throws(PaymentException::class)
    public fun renewToken(clientToken: String): Unit = calling { core.renewToken(sendable("client_token", clientToken)) }

    /**
     * Tells a listener the states as they come, on an executor, for Java: those of [states].
     *
     * ```java
     * CheckoutListening listening = checkout.listen(ContextCompat.getMainExecutor(this), this::show);
     * ```
     *
     * @return what ends it; the end of the states does, too
     */
    public fun listen(executor: Executor, listener: CheckoutListener): CheckoutListening {
        val listening = CoroutineScope(executor.asCoroutineDispatcher()).launch {
            states.collect(listener::stateChanged)
            listener.ended()
        }
        return CheckoutListening(listening)
    }

    /**
     * Stops following, and the function that renews the token: the states end. **What was sent goes on at the server**, and opening the
     * checkout again shows what became of it. Closing it again does nothing.
     */
    override fun close() {
        renewal.stop()
        calling { core.stop() }
    }

    /** The server, and the kind of state; neither the token nor the address of a page. */
    override fun toString(): String = "Checkout($serverUrl, ${state.kind})"

    /** Opens checkouts. */
    public companion object {
        /**
         * Opens a checkout of the merchant's server by a client token, and begins to follow it. Whether the server is reached, and takes the
         * token, the states tell.
         *
         * @param serverUrl the server's address: https, or http to a loopback address
         * @param clientToken what the shop's back end got from the server for this checkout, `ct_…`
         * @throws PaymentException.Misconfigured where the address cannot be that of a server, the token can be no client token (such as an
         *   API key of the shop's), or a setting cannot work, naming it
         * @throws PaymentException.Invalid where a text has half a surrogate pair in it, which is no text
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
         * The same, with a function of the app's that gets a new client token from the shop's back end. It is called when the one before is
         * not good any more (it lives for 15 minutes unless the server is set up otherwise), on `Dispatchers.Default`, one call at a time.
         *
         * Where it throws, a message says so ([MessageTopic.TOKEN_NOT_RENEWED], with the exception's own message as the reason), and it is
         * called again, after a while. Closing the checkout cancels it. The state [CheckoutState.TokenExpired] does not come.
         *
         * ```
         * val checkout = Checkout.open("https://pay.shop.example.kg", clientToken) { shop.newClientToken() }
         * ```
         *
         * @param renewToken answers with a new client token of the same checkout
         * @throws PaymentException as without it
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
         * The same for Java, with a future in place of a suspend function.
         *
         * ```java
         * Checkout checkout = Checkout.open(serverUrl, clientToken, new CheckoutSettings(), shop::newClientToken);
         * ```
         *
         * @param renewToken answers with a future of a new client token of the same checkout. Closing the checkout cancels that
         * @throws PaymentException as without it
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
