package dev.kassa.readme

import dev.kassa.PaymentEntry
import dev.kassa.PaymentRef
import dev.kassa.PaymentStatus
import dev.kassa.Provider
import kotlinx.serialization.Serializable

@Serializable
data class Order(
    val number: String,
    val payment: PaymentRef, // "kassa1:kind=card&order=order-17&..."
    val shown: PaymentEntry? = null,
    val status: PaymentStatus? = null,
    val provider: Provider? = null,
)
