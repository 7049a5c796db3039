package dev.kassa.checkout

import dev.kassa.Kassa
import dev.kassa.QrCode
import dev.kassa.QrPayment
import java.math.BigDecimal

/** Shows a QR code in the terminal, and waits until it is paid: `checkout qr 100.10`. */
fun main(arguments: Array<String>) = checkout { gateway ->
    val data = gateway.createQrData(QrPayment(sumTyiyn = Kassa.somToTyiyn(BigDecimal(arguments[0]))))
    val text = data.payload
    if (text == null || !data.payment.canBeChecked) {
        println("this gateway's response needs a dialect: ${data.raw}")
    } else {
        println(QrCode.encode(text).text())
        println("or open: $text")
        end(gateway, data.payment)
    }
}
