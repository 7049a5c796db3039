package dev.kassa.internal

import com.sun.jna.Pointer
import java.time.Duration

private val CLONE = Direct.function("uniffi_kassa_fn_clone_gateway")
private val CREATE_CARD_PAYMENT = method("create_card_payment")
private val PAYMENT_STATUS = method("payment_status")
private val CREATE_MBANK_PAYMENT = method("create_mbank_payment")
private val CONFIRM_MBANK_PAYMENT = method("confirm_mbank_payment")
private val CREATE_PAY_FORM = method("create_pay_form")
private val PROVIDER_STATUS = method("provider_status")
private val CREATE_QR_IMAGE = method("create_qr_image")
private val CREATE_QR_DATA = method("create_qr_data")
private val QR_STATUS = method("qr_status")
private val CHECK = method("check")
private val VERIFY_CALLBACK = method("verify_callback")
private val VERIFY_RETURN = method("verify_return")

private fun method(name: String) = Direct.function("uniffi_kassa_fn_method_gateway_$name")

/**
 * Direct FFI calls: the generated gateway, with its calls made past the generated code, which for each makes a dozen
 * structures of JNA's, and has threads of the core's enter the JVM. A status query takes 0.72 of the time that OkHttp
 * takes (`BENCHMARKS.md`).
 *
 * Why: docs/adr/0005-fast-calls-from-other-languages.md. Upstream: a generator over JNI,
 * https://github.com/mozilla/uniffi-rs/issues/2672. This goes, and with it everything in this folder that says so, when
 * a release of it takes no longer for a query.
 */
internal class DirectGateway : Gateway {
    constructor(config: GatewayConfig) : super(config)

    private constructor(handle: Long) : super(UniffiWithHandle, handle)

    @Volatile
    private var lastFuture = 0L

    override suspend fun createCardPayment(payment: CardPayment): CardPaymentCreated = answer(
        begin(CREATE_CARD_PAYMENT, argument(payment, FfiConverterTypeCardPayment)),
        FfiConverterTypeCardPaymentCreated,
    )

    override suspend fun paymentStatus(gatewayNumber: String, language: String?): StatusReport = answer(
        begin(PAYMENT_STATUS, argument(gatewayNumber), argument(language, FfiConverterOptionalString)),
        FfiConverterTypeStatusReport,
    )

    override suspend fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated = answer(
        begin(CREATE_MBANK_PAYMENT, argument(payment, FfiConverterTypeMbankPayment)),
        FfiConverterTypeMbankPaymentCreated,
    )

    override suspend fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed = answer(
        begin(CONFIRM_MBANK_PAYMENT, argument(payment, FfiConverterTypePaymentRef), argument(otp)),
        FfiConverterTypeMbankConfirmed,
    )

    override suspend fun createPayForm(form: PayForm): PayFormCreated =
        answer(begin(CREATE_PAY_FORM, argument(form, FfiConverterTypePayForm)), FfiConverterTypePayFormCreated)

    override suspend fun providerStatus(orderNumber: String, provider: Provider): StatusReport = answer(
        begin(PROVIDER_STATUS, argument(orderNumber), argument(provider, FfiConverterTypeProvider)),
        FfiConverterTypeStatusReport,
    )

    override suspend fun createQrImage(payment: QrPayment): QrImage =
        answer(begin(CREATE_QR_IMAGE, argument(payment, FfiConverterTypeQrPayment)), FfiConverterTypeQrImage)

    override suspend fun createQrData(payment: QrPayment): QrData =
        answer(begin(CREATE_QR_DATA, argument(payment, FfiConverterTypeQrPayment)), FfiConverterTypeQrData)

    override suspend fun qrStatus(transactionId: String): StatusReport =
        answer(begin(QR_STATUS, argument(transactionId)), FfiConverterTypeStatusReport)

    override suspend fun check(payment: PaymentRef): Verdict =
        answer(begin(CHECK, argument(payment, FfiConverterTypePaymentRef)), FfiConverterTypeVerdict)

    override suspend fun verifyCallback(callback: PaymentCallback, payment: PaymentRef): Verdict = answer(
        begin(
            VERIFY_CALLBACK,
            argument(callback, FfiConverterTypePaymentCallback),
            argument(payment, FfiConverterTypePaymentRef),
        ),
        FfiConverterTypeVerdict,
    )

    override suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict = answer(
        begin(
            VERIFY_RETURN,
            argument(redirect, FfiConverterTypeReturnRedirect),
            argument(payment, FfiConverterTypePaymentRef),
        ),
        FfiConverterTypeVerdict,
    )

    override fun withDeadline(deadline: Duration): DirectGateway = of(super.withDeadline(deadline))

    override fun withJournal(journal: Journal): DirectGateway = of(super.withJournal(journal))

    override fun withNote(note: String): DirectGateway = of(super.withNote(note))

    /**
     * The core's gateway is freed once this is unreachable, and not before: a call may be using it. The generated code
     * counts its own calls, and knows nothing of those that go past it.
     */
    override fun destroy(): Unit = Unit

    private fun begin(method: Pointer, vararg arguments: Argument): Long {
        val memory = written(arguments)
        val future = when (arguments.size) {
            1 -> Direct.kassa_jvm_begin_1(method, CLONE, handle, memory.address)
            2 -> Direct.kassa_jvm_begin_2(method, CLONE, handle, memory.address)
            else -> error("no method has ${arguments.size} arguments")
        }
        memory.keep()
        // Written after the call, so that this is reachable until then, too.
        lastFuture = future
        return future
    }

    companion object {
        /** In place of a generated one, which is closed. */
        fun of(gateway: Gateway) = gateway.use { DirectGateway(it.uniffiCloneHandle()) }
    }
}
