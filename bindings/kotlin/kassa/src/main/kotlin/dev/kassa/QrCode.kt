package dev.kassa

import dev.kassa.internal.QrCode as CoreQrCode
import dev.kassa.internal.QrLevel as CoreQrLevel

/** A QR code, the smallest that holds its text. */
public class QrCode private constructor(private val core: CoreQrCode) {
    /** The rows of modules, true for dark, without the light border. */
    public fun modules(): List<List<Boolean>> = calling { core.modules() }

    /**
     * A black and white PNG of [px] by [px] pixels.
     *
     * All modules have the same whole number of pixels, and the white border is at least four modules wide, so that scanners can read it.
     *
     * @throws PaymentException.Invalid if [px] is too small for the code, or larger than 10,000
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public fun png(px: Int = PNG_SIDE): ByteArray = calling { core.png(px.coerceAtLeast(0).toUInt()) }

    /** An SVG picture. */
    public fun svg(): String = calling { core.svg() }

    /** The code in half-block characters for a terminal with a dark background, including the border. */
    public fun text(): String = calling { core.text() }

    /** The size of the picture. */
    override fun toString(): String = modules().size.let { "QrCode(${it}x$it modules)" }

    /** Makes QR codes. */
    public companion object {
        /** The default side of a picture in pixels, as in the gateway's own. */
        public const val PNG_SIDE: Int = 400

        /**
         * Encodes a text.
         *
         * @throws PaymentException.Invalid if the text is empty or too long for a code of this level
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
