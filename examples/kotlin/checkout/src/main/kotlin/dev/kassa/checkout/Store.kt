package dev.kassa.checkout

import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.contentOrNull
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import java.io.File
import java.io.IOException
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption.CREATE
import java.nio.file.StandardOpenOption.READ
import java.nio.file.StandardOpenOption.TRUNCATE_EXISTING
import java.nio.file.StandardOpenOption.WRITE

private const val VERSION = 1

/** How many payments that are over are kept, for people who want to look. */
private const val KEPT = 100

/** Where a payment stands, as far as this program knows. */
enum class State {
    /** It may be anywhere between sent and paid: ask. */
    OPEN,

    /** The money was taken. */
    CHARGED,

    /** It ended without the money being taken. */
    REJECTED,

    /** The gateway never took it on: nothing happened. */
    NOT_MADE,

    /** It was made in a sandbox that kept it in memory, and ended with it. */
    GONE;

    /** The word in the file. */
    val word: String get() = name.lowercase()
}

/** One payment. It holds references, and no secret. */
data class Entry(
    /** This program's own reference, which is in the query of the callback and return URLs. */
    val reference: String,
    /** The text form of the payment's reference: its numbers, and what was asked for. */
    val payment: String,
    /** Which gateway it was made with. */
    val gateway: String,
    /** When it was begun, in seconds since 1970. */
    val begun: Long = System.currentTimeMillis() / 1000,
    val state: State = State.OPEN,
) {
    /** What to ask about it with. */
    fun paymentRef(): PaymentRef = try {
        PaymentRef.parse(payment)
    } catch (_: PaymentException.Invalid) {
        throw Failure.State("the state file holds $payment, which is no PaymentRef")
    }
}

private fun Entry.toJson() = json(
    "reference" to reference,
    "payment" to payment,
    "gateway" to gateway,
    "begun" to begun,
    "state" to state.word,
)

private fun entry(told: JsonObject) = Entry(
    reference = told.text("reference"),
    payment = told.text("payment"),
    gateway = told.text("gateway"),
    begun = told.text("begun").toLong(),
    state = State.entries.find { it.word == told.text("state") } ?: throw IllegalArgumentException("a payment has a new state"),
)

private fun JsonObject.textOrNull(name: String) = (get(name) as? JsonPrimitive)?.contentOrNull

private fun JsonObject.text(name: String) = requireNotNull(textOrNull(name)) { "a payment has no $name" }

/**
 * The payments this program has begun, in a file: written before anything is sent, marked when it is over.
 *
 * The file is replaced in one step (a temporary file, then a rename), and a lock keeps two programs from losing each other's
 * payments.
 */
class Store(val file: Path) {
    private val pretty = Json { prettyPrint = true }

    /** Every payment in it, oldest first. */
    fun entries(): List<Entry> = usable { read() }

    /** Puts a payment in. When this returns, it is on the disk. */
    fun add(entry: Entry) = change { payments ->
        val over = (payments + entry).filter { it.state != State.OPEN }
        payments + entry - over.dropLast(KEPT).toSet()
    }

    /** Changes the payment with a reference; where there is none, nothing happens. */
    fun update(reference: String, change: (Entry) -> Entry) =
        change { payments -> payments.map { if (it.reference == reference) change(it) else it } }

    /**
     * Gives a payment the number that was claimed for it, unless another payment of the gateway has it: one payment pays for one
     * order. True where it is given; where it is not, nothing is changed.
     */
    fun claim(reference: String, gateway: String, payment: PaymentRef): Boolean {
        var isFree = false
        change { payments ->
            val others = payments.filter { it.reference != reference && it.gateway == gateway }
            isFree = others.none { haveOneNumber(it.paymentRef(), payment) }
            payments.map { if (isFree && it.reference == reference) it.copy(payment = payment.toString()) else it }
        }
        return isFree
    }

    @Synchronized
    private fun change(change: (List<Entry>) -> List<Entry>) = usable {
        FileChannel.open(beside("lock"), CREATE, WRITE).use { lock ->
            lock.lock()
            write(change(read()))
        }
    }

    private fun read(): List<Entry> {
        val text = try {
            Files.readString(file)
        } catch (_: NoSuchFileException) {
            return emptyList()
        }
        val contents = pretty.parseToJsonElement(text).jsonObject
        val version = contents.text("version")
        require(version == "$VERSION") { "it has version $version, not $VERSION" }
        return contents["payments"]?.jsonArray.orEmpty().map { entry(it.jsonObject) }
    }

    private fun write(payments: List<Entry>) {
        val contents = json("version" to VERSION, "payments" to payments.map { it.toJson() })
        val text = pretty.encodeToString(JsonObject.serializer(), contents) + "\n"
        val temporary = beside("new")
        FileChannel.open(temporary, CREATE, TRUNCATE_EXISTING, WRITE).use { channel ->
            val bytes = Charsets.UTF_8.encode(text)
            while (bytes.hasRemaining()) channel.write(bytes)
            channel.force(true)
        }
        Files.move(temporary, file, ATOMIC_MOVE)
        // The rename itself outlives a power cut, where the system can.
        if (File.separator == "/") FileChannel.open(file.toAbsolutePath().parent, READ).use { it.force(true) }
    }

    private fun beside(ending: String): Path = file.resolveSibling("${file.fileName}.$ending")

    private fun <T> usable(work: () -> T): T = try {
        work()
    } catch (error: IOException) {
        throw Failure.State("the state file $file cannot be used: $error")
    } catch (error: IllegalArgumentException) {
        // It is not what this program has written.
        throw Failure.State("the state file $file cannot be used: ${error.message}")
    }
}

private fun haveOneNumber(one: PaymentRef, other: PaymentRef) =
    isSame(one.orderNumber, other.orderNumber) || isSame(one.transactionId, other.transactionId)

private fun isSame(one: String?, other: String?) = one != null && one == other
