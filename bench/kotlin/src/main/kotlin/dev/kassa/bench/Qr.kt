package dev.kassa.bench

import com.google.zxing.BarcodeFormat
import com.google.zxing.EncodeHintType
import com.google.zxing.client.j2se.MatrixToImageWriter
import com.google.zxing.qrcode.QRCodeWriter
import com.google.zxing.qrcode.decoder.ErrorCorrectionLevel
import dev.kassa.QrCode
import dev.kassa.QrLevel
import java.io.ByteArrayOutputStream

private const val URL = "https://pay.example.kg/q?id=17&"
private const val TIMES = 10

private fun kassaPng(text: String): ByteArray = QrCode.encode(text, QrLevel.MEDIUM).png(QrCode.PNG_SIDE)

private fun zxingPng(text: String): ByteArray {
    val hints = mapOf(EncodeHintType.ERROR_CORRECTION to ErrorCorrectionLevel.M)
    val matrix = QRCodeWriter().encode(text, BarcodeFormat.QR_CODE, QrCode.PNG_SIDE, QrCode.PNG_SIDE, hints)
    return ByteArrayOutputStream().also { MatrixToImageWriter.writeToStream(matrix, "PNG", it) }.toByteArray()
}

fun compareQr() {
    val painters = mapOf("Kassa" to ::kassaPng, "ZXing" to ::zxingPng)
    for (length in listOf(30, 125, 500)) {
        val text = URL.repeat(20).take(length)
        val subjects = painters.mapValues { (_, draw) -> { microsecondsEach(TIMES) { repeat(TIMES) { draw(text) } } } }
        val facts = painters.mapValues { (_, draw) -> "${draw(text).size} bytes" }
        compare("$length bytes", "us", subjects, mapOf("ZXing" to 1.0 / 3), facts)
    }
}
