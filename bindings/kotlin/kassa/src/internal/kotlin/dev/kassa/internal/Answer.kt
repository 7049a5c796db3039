package dev.kassa.internal

import com.sun.jna.Pointer
import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.ByteOrder
import kotlinx.coroutines.currentCoroutineContext

/**
 * Awaits a call of the core, whose future is given over. Cancelling the coroutine drops the future at once. In place of
 * the generated `uniffiRustCallAsync`; goes with [DirectGateway].
 */
internal suspend fun <T> answer(future: Long, converter: FfiConverterRustBuffer<T>): T {
    var isThere = false
    try {
        if (currentCoroutineContext()[OnCallingThread] != null) {
            runHere(future)
            val memory = Memory.ofThread()
            val result = result(future, NOBODY, memory)
            isThere = result >= 0
            check(isThere) { "a call that had ended goes on" }
            return read(result, memory, converter)
        }
        while (true) {
            val wait = Wait()
            val number = Waits.add(wait)
            val memory = Memory.ofThread()
            val result = result(future, number, memory)
            if (result >= 0) {
                isThere = true
                Waits.remove(number)
                return read(result, memory, converter)
            }
            wait.untilWoken()
        }
    } finally {
        if (!isThere) Direct.kassa_jvm_free(future)
    }
}

/** The number of a wait that there is not: the call has come to its end already. */
private const val NOBODY = 0L

private fun result(future: Long, number: Long, memory: Memory): Long =
    Direct.kassa_jvm_poll(future, Waits.wakeups, number, memory.address, memory.size.toLong())

private fun <T> read(result: Long, memory: Memory, converter: FfiConverterRustBuffer<T>): T {
    val code = result.toByte()
    val length = result shr Byte.SIZE_BITS
    if (length <= memory.size) {
        return read(code, memory.bytes().upTo(length), converter)
    }
    val address = Pointer(memory.address).getLong(0)
    val capacity = Pointer(memory.address).getLong(Long.SIZE_BYTES.toLong())
    try {
        return read(code, Pointer(address).getByteBuffer(0, length).order(ByteOrder.BIG_ENDIAN), converter)
    } finally {
        Direct.kassa_jvm_free_result(address, capacity)
    }
}

private fun <T> read(code: Byte, bytes: ByteBuffer, converter: FfiConverterRustBuffer<T>): T = when (code) {
    UNIFFI_CALL_SUCCESS -> converter.read(bytes).also { bytes.checkOver() }
    UNIFFI_CALL_ERROR -> throw FfiConverterTypePaymentError.read(bytes)
    else -> throw InternalException(Charsets.UTF_8.decode(bytes).toString())
}

private fun ByteBuffer.checkOver() {
    if (hasRemaining()) throw InternalException("a value of the core goes on where it should end")
}

/** As of Java 8, which older versions of Android have. */
private fun ByteBuffer.upTo(length: Long): ByteBuffer {
    (this as Buffer).limit(length.toInt())
    return this
}
