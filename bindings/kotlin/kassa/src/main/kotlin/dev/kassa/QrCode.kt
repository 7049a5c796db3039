package dev.kassa

import dev.kassa.internal.QrCode as CoreQrCode
import dev.kassa.internal.QrLevel as CoreQrLevel

/** A QR code: the smallest one that holds its text. */
public class QrCode private constructor(private val core: CoreQrCode) {
    /** The code as rows of modules, true where dark, without the light border around it. */
    public fun modules(): List<List<Boolean>> = calling { core.modules() }

    /**
     * A black and white PNG of [px] by [px] pixels.
     *
     * Every module is the same whole number of pixels wide, and the code stands in the middle of white that is at least four
     * modules wide, so that scanners read it.
     *
     * @throws PaymentException.Invalid where [px] is too small for the code, or larger than 10,000
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public fun png(px: Int = PNG_SIDE): ByteArray = calling { core.png(px.coerceAtLeast(0).toUInt()) }

    /** An SVG picture. */
    public fun svg(): String = calling { core.svg() }

    /** The code in half-block characters for a terminal with light letters on dark ground, border included. */
    public fun text(): String = calling { core.text() }

    /** How large it is. */
    override fun toString(): String = modules().size.let { "QrCode(${it}x$it modules)" }

    /** Makes QR codes. */
    public companion object {
        /** The side of a picture unless another is asked for, in pixels: that of the gateway's own. */
        public const val PNG_SIDE: Int = 400

        /**
         * Encodes a text.
         *
         * @throws PaymentException.Invalid where the text is empty or too long for a code of this level
         */
        @JvmStatic
        @JvmOverloads
        @Throws(PaymentException::class)
        public fun encode(text: String, level: QrLevel = QrLevel.MEDIUM): QrCode =
            QrCode(calling { CoreQrCode.encode(sendable("text", text), CoreQrLevel.valueOf(level.name)) })
    }
}

/** How much of a QR code may be unreadable. More costs modules. */
public enum class QrLevel {
    /** 7 %. */
    LOW,

    /** 15 %. */
    MEDIUM,

    /** 25 %. */
    QUARTILE,

    /** 30 %. */
    HIGH,
}
