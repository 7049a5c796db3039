package dev.kassa.internal

import java.nio.Buffer
import java.nio.ByteBuffer

/** One argument of a call. */
internal class Argument(val mostBytes: Long, val write: (ByteBuffer) -> Unit)

/** A text that is a whole argument has no length within: the argument has it. */
internal fun argument(text: String): Argument {
    val bytes = FfiConverterString.toUtf8(text)
    return Argument(bytes.remaining().toLong()) { it.put(bytes) }
}

internal fun <T> argument(value: T, converter: FfiConverterRustBuffer<T>) =
    Argument(converter.allocationSize(value).toLong()) { converter.write(value, it) }

/** Writes them for the core, each behind its length. The core wipes what it has read. */
internal fun written(arguments: Array<out Argument>): Memory {
    val memory = Memory.of(arguments.sumOf { Int.SIZE_BYTES + it.mostBytes })
    val bytes = memory.bytes()
    try {
        for (argument in arguments) {
            val start = bytes.position()
            bytes.moveTo(start + Int.SIZE_BYTES)
            argument.write(bytes)
            bytes.putInt(start, bytes.position() - start - Int.SIZE_BYTES)
        }
    } catch (error: Throwable) {
        memory.wipe()
        throw error
    }
    return memory
}

/** As of Java 8, which older versions of Android have. */
private fun Buffer.moveTo(position: Int) {
    position(position)
}
