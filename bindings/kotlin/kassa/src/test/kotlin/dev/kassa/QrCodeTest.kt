package dev.kassa

import com.google.zxing.BinaryBitmap
import com.google.zxing.RGBLuminanceSource
import com.google.zxing.common.HybridBinarizer
import com.google.zxing.qrcode.QRCodeReader
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import javax.imageio.ImageIO

private const val BLACK = 0x000000
private const val WHITE = 0xFFFFFF

/** The light border that a scanner needs, in modules. */
private const val BORDER = 4

/** The side of a drawn module, in pixels. */
private const val SCALE = 4

/** Drawn codes, read back by ZXing, a reader that Kassa has no code of. */
class QrCodeTest {
    @ParameterizedTest
    @EnumSource
    fun `drawn code is read back from each picture`(level: QrLevel) {
        for (link in listOf("https://pay.payqr.kg/", "")) {
            val code = Elqr(
                ElqrKind.DYNAMIC,
                "qr.example.kg",
                payee = "Дүкөн «Ак-Сай»",
                mcc = "5812",
                serviceCode = "02",
                amountTyiyn = 39_000,
                comment = "Төлөм № 7: чай жана өрүк",
                link = link,
            )
            val text = code.text()
            val drawn = QrCode.encode(text, level)
            val pictures = mapOf("PNG" to ofPng(drawn.png()), "SVG" to ofSvg(drawn.svg()), "modules" to ofModules(drawn.modules()))
            for ((name, picture) in pictures) {
                val read = QRCodeReader().decode(BinaryBitmap(HybridBinarizer(picture))).text
                assertEquals(text, read, name)
                assertEquals(code, Elqr.parse(read), name)
            }
        }
    }

    private fun ofPng(png: ByteArray): RGBLuminanceSource {
        val picture = ImageIO.read(png.inputStream())
        val pixels = picture.getRGB(0, 0, picture.width, picture.height, null, 0, picture.width)
        return RGBLuminanceSource(picture.width, picture.height, pixels)
    }

    /** Of a white square with dark rectangles, each a part of one path: `M left top h width v height` and the way back. */
    private fun ofSvg(svg: String): RGBLuminanceSource {
        val side = svg.substringAfter("width=\"").substringBefore('"').toInt()
        val pixels = IntArray(side * side) { WHITE }
        for (rectangle in Regex("""M(\d+) (\d+)h(\d+)v(\d+)""").findAll(svg)) {
            val (left, top, width, height) = rectangle.groupValues.drop(1).map(String::toInt)
            for (y in top until top + height) pixels.fill(BLACK, y * side + left, y * side + left + width)
        }
        return RGBLuminanceSource(side, side, pixels)
    }

    private fun ofModules(modules: List<List<Boolean>>): RGBLuminanceSource {
        val side = (modules.size + 2 * BORDER) * SCALE
        val pixels = IntArray(side * side) { at ->
            val (x, y) = at % side / SCALE - BORDER to at / side / SCALE - BORDER
            if (modules.getOrNull(y)?.getOrNull(x) == true) BLACK else WHITE
        }
        return RGBLuminanceSource(side, side, pixels)
    }
}
