package dev.kassa.support

import dev.kassa.Card
import dev.kassa.CardPayment
import dev.kassa.Kassa
import dev.kassa.MbankPayment
import dev.kassa.MegapayPayment
import java.math.BigDecimal

fun card(pan: String = "4111111111111111", cvc: String = "123") = Card(pan, "08", 2031, cvc, "Aibek Usenov")

fun cardPayment(card: Card = card(), orderNumber: String = Kassa.newOrderNumber()) = CardPayment(
    orderNumber = orderNumber,
    description = "Two tickets",
    amount = BigDecimal("100.10"),
    currency = "KGS",
    card = card,
    language = "en",
    callbackUrl = "http://127.0.0.1:9/callback",
    ip = "203.0.113.7",
    returnUrl = "https://shop.example.kg/back",
)

fun mbankPayment() = MbankPayment(Kassa.newOrderNumber(), "996555000101", 250, "Two tickets")

fun megapayPayment() = MegapayPayment(Kassa.newOrderNumber(), BigDecimal("250.50"), "0555 000 201", "17", "http://127.0.0.1:9/callback")
