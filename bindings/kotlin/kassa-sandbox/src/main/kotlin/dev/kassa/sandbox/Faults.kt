package dev.kassa.sandbox

import kotlin.time.Duration
import kotlin.time.DurationUnit
import kotlin.time.toKotlinDuration

/**
 * A snapshot of a fault that is set.
 *
 * @property id its number
 * @property name what it does
 * @property struck how many times it has struck
 * @property endpoint the endpoint it is for; null for all
 * @property orderNumber the order it is for; null for all
 * @property probability how likely it strikes, each time it could
 * @property times how many times it strikes before it is spent; null for no limit
 */
public data class Fault(
    public val id: Long,
    public val name: FaultName,
    public val struck: Int,
    public val endpoint: Endpoint?,
    public val orderNumber: String?,
    public val probability: Double,
    public val times: Int?,
)

/** A fault that was set: it counts how often it was injected, and is removed by its removal or at the end of `use`. */
public class ActiveFault internal constructor(private val faults: Faults, private var known: Fault) : AutoCloseable {
    /** Its number. */
    public val id: Long get() = known.id

    /** What it does. */
    public val name: FaultName get() = known.name

    /** How many times it has struck by now; once it is gone, how many times it was last seen to have struck. */
    public val struck: Int
        get() {
            isSet()
            return known.struck
        }

    /** Removes the fault if it is still set. */
    public fun remove() {
        if (isSet()) faults.remove(id)
    }

    /** The same as [remove]. */
    override fun close(): Unit = remove()

    /** What it does. */
    override fun toString(): String = "ActiveFault(id=$id, name=$name)"

    // A sandbox that was restarted counts its faults from the beginning, so the number alone says nothing.
    @Synchronized
    private fun isSet(): Boolean {
        val found = faults.list().find { it.copy(struck = 0) == known.copy(struck = 0) }
        if (found != null) known = found
        return found != null
    }
}

/** Fault injection. [clear] and the sandbox's `reset` remove all faults. */
public class Faults internal constructor(private val admin: () -> Admin) {
    /**
     * Sets a fault.
     *
     * ```
     * sandbox.faults.add(FaultName.RESPONSE_LOST, orderNumber = "order-17", times = 1).use { fault ->
     *     shop.pay("order-17")
     *     check(fault.struck == 1)
     * }
     * ```
     *
     * @param name what it does
     * @param orderNumber only what concerns this order: the merchant's number, the gateway's, or the transaction id
     * @param times how often it strikes before it is spent; without it, no limit
     * @param endpoint only requests to this endpoint
     * @param delay for [FaultName.DELAY] and [FaultName.CALLBACK_LATE], in whole milliseconds
     * @param retryAfter for [FaultName.RETRY_AFTER] and [FaultName.UNAVAILABLE], in whole seconds
     * @param status the word for [FaultName.UNKNOWN_STATUS]
     * @param code the code for [FaultName.UNKNOWN_CODE]
     * @param probability from 0 to 1, from a separate random generator
     * @param seed what that generator starts from
     * @throws SandboxException.Refused naming a field that is wrong, or that this fault does not know
     */
    public fun add(
        name: FaultName,
        orderNumber: String? = null,
        times: Int? = null,
        endpoint: Endpoint? = null,
        delay: Duration? = null,
        retryAfter: Duration? = null,
        status: String? = null,
        code: String? = null,
        probability: Double? = null,
        seed: Long? = null,
    ): ActiveFault {
        val wanted = objectOf(
            "name" to name,
            "order_number" to orderNumber,
            "endpoint" to endpoint,
            "times" to times,
            "probability" to probability,
            "seed" to seed,
            "delay_ms" to delay?.whole("delay", DurationUnit.MILLISECONDS),
            "retry_after_s" to retryAfter?.whole("retryAfter", DurationUnit.SECONDS),
            "status" to status,
            "code" to code,
        )
        return ActiveFault(this, fault(admin().request("POST", "faults", wanted)))
    }

    /** Sets a fault for every order, without limit. For Java. */
    public fun add(name: FaultName): ActiveFault = add(name, null, null)

    /** Sets a fault for one order, without limit. For Java. */
    public fun add(name: FaultName, orderNumber: String?): ActiveFault = add(name, orderNumber, null)

    /** Sets a fault for one order that is injected this many times. For Java. */
    public fun add(name: FaultName, orderNumber: String?, times: Int?): ActiveFault =
        add(name, orderNumber, times, endpoint = null)

    /** Sets a fault, as above, with Java's durations. Null leaves an option unset. */
    public fun add(
        name: FaultName,
        orderNumber: String?,
        times: Int?,
        endpoint: Endpoint?,
        delay: java.time.Duration?,
        retryAfter: java.time.Duration?,
        status: String?,
        code: String?,
        probability: Double?,
        seed: Long?,
    ): ActiveFault = add(
        name,
        orderNumber,
        times,
        endpoint,
        delay?.toKotlinDuration(),
        retryAfter?.toKotlinDuration(),
        status,
        code,
        probability,
        seed,
    )

    /** The faults that are set, with how often each has struck. */
    public fun list(): List<Fault> = admin().request("GET", "faults").list("faults").map(::fault)

    /** Ends every fault. */
    public fun clear() {
        admin().request("DELETE", "faults")
    }

    internal fun remove(id: Long) {
        admin().request("DELETE", "faults/$id")
    }
}
