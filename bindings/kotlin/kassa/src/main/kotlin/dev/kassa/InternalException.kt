package dev.kassa

/**
 * A defect in Kassa itself. **It says nothing about the money**: watch the payment, never send it again.
 */
public class InternalException internal constructor(detail: String) : RuntimeException(
    "A defect in Kassa: $detail. It says nothing about the money: watch the payment, never send it again.",
)
