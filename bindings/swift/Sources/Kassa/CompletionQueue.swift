import Foundation
internal import KassaFFI
internal import KassaGenerated

/// How a call ended. The value is the answer or the error in UniFFI's serialization or, for a defect, a text.
struct Completion: Sendable {
    enum Code: UInt8 {
        case answer, error, defect
    }

    let code: Code
    let value: Data
    /// The core has to hear that a task received it: what comes once, such as a report, goes to the next call otherwise.
    let isToBeReceived: Bool
}

/// The core's queue of completed calls, one for the process, and the tasks that wait for their calls.
///
/// A call may complete on one thread while its task is cancelled on another. Only the one that removes the call from `waiting` resumes
/// the task, so each task is resumed exactly once. It also tells the core which of the two has happened: the completion may be here
/// already when the task is cancelled, and is then given back.
///
/// Unchecked, because the compiler does not see that the lock guards everything that changes.
final class CompletionQueue: @unchecked Sendable {
    static let shared: CompletionQueue = CompletionQueue()

    private struct Waiting {
        let task: CheckedContinuation<Completion, any Error>
        var isSubmitted = false
    }

    private let lock = NSLock()
    private var waiting: [UInt64: Waiting] = [:]
    private var lastNumber: UInt64 = 0
    /// Never freed: it lives as long as the process.
    private let queue: UInt64 = kassa_queue_new({ _ in CompletionQueue.shared.resumeTasks() }, 0, 0)

    /// Makes a call and waits until it completes. If the task is cancelled, it drops the call and throws `CancellationError` at once.
    /// Observers know the call by the second number.
    func completion(of call: AsyncCall, observedAs observed: UInt64) async throws -> Completion {
        let number = lock.withLock {
            lastNumber += 1
            return lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { begin(call, number, observed, for: $0) }
        } onCancel: {
            cancel(number)
        }
    }

    private func begin(
        _ call: AsyncCall, _ number: UInt64, _ observed: UInt64, for task: CheckedContinuation<Completion, any Error>
    ) {
        // Checked before the message is written: a written message owns objects of the core, which only `kassa_submit` takes over.
        guard !Task.isCancelled else { return task.resume(throwing: CancellationError()) }
        // Before it is submitted, because it may complete at once.
        lock.withLock { waiting[number] = Waiting(task: task) }
        submit(call, number, observed)
        lock.withLock { waiting[number]?.isSubmitted = true }
        // Until here, `cancel` did nothing, so that no task is resumed while its call is still to be submitted.
        if Task.isCancelled { cancel(number) }
    }

    private func submit(_ call: AsyncCall, _ number: UInt64, _ observed: UInt64) {
        var message: [UInt8] = []
        // Enough for most calls. The core wipes the message, but not what an array leaves behind when it grows.
        message.reserveCapacity(2048)
        FfiConverterTypeAsyncCall.write(call, into: &message)
        message.withUnsafeMutableBytes { kassa_submit(queue, number, observed, $0.address, UInt64($0.count)) }
    }

    /// Gives a call up, unless its task has the completion, or it is not submitted yet.
    private func cancel(_ number: UInt64) {
        let task = lock.withLock {
            waiting[number]?.isSubmitted == true ? waiting.removeValue(forKey: number)?.task : nil
        }
        guard let task else { return }
        kassa_cancel(queue, number)
        task.resume(throwing: CancellationError())
    }

    /// Resumes the tasks of all completed calls. It runs on the core's threads, so the values are read later, by the tasks.
    private func resumeTasks() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { memory in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            var areMoreWaiting = true
            while areMoreWaiting {
                let written = kassa_take(queue, memory.address, UInt64(memory.count), 0)
                areMoreWaiting = written < 0
                var completions = CompletionReader(memory: memory, end: Int(written.magnitude))
                while let (number, completion) = completions.next() { resumeTask(of: number, completion) }
            }
        }
    }

    /// Nobody waits for a call that was cancelled meanwhile: `cancel` gives its completion back.
    private func resumeTask(of number: UInt64, _ completion: Completion) {
        guard let task = lock.withLock({ waiting.removeValue(forKey: number)?.task }) else { return }
        task.resume(returning: completion)
        if completion.isToBeReceived { kassa_received(queue, number) }
    }
}

/// Reads what `kassa_take` has written: see `Memory::add` in `bindings/native/src/memory.rs`.
private struct CompletionReader {
    /// The bytes before a value: the number of the call and the status.
    private static let head = 16

    let memory: UnsafeMutableRawBufferPointer
    let end: Int
    private var offset = 0

    init(memory: UnsafeMutableRawBufferPointer, end: Int) {
        self.memory = memory
        self.end = end
    }

    mutating func next() -> (number: UInt64, completion: Completion)? {
        guard offset < end else { return nil }
        let (number, status) = (readInteger(), readInteger())
        let code = Completion.Code(rawValue: UInt8(status & 0x7f)) ?? .defect
        let value = readValue(of: Int(status >> 8))
        return (number, Completion(code: code, value: value, isToBeReceived: status & 0x80 != 0))
    }

    private mutating func readValue(of length: Int) -> Data {
        if length <= memory.count - Self.head {
            defer { offset += length }
            return Data(memory[offset..<offset + length])
        }
        // Too long for the memory, which has its address instead.
        let (address, capacity) = (readInteger(), readInteger())
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(bitPattern: UInt(address))!, count: length,
            deallocator: .custom { _, _ in kassa_free(address, capacity) })
    }

    private mutating func readInteger() -> UInt64 {
        defer { offset += 8 }
        return UInt64(bigEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

extension UnsafeMutableRawBufferPointer {
    /// As the core's functions take it: 64 bits on every machine.
    fileprivate var address: UInt64 { UInt64(UInt(bitPattern: baseAddress)) }
}
