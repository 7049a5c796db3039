import Foundation
internal import KassaFFI
internal import KassaGenerated

/// How a call ended, and the answer, the error or, for a defect, a text.
struct Completion: Sendable {
    enum Code: UInt8 {
        case answer, error, defect
    }

    let code: Code
    let value: Data
}

/// The calls of this process that go on, each with the task that waits for it.
///
/// A call may be complete on one thread while its task is cancelled on another. Whoever takes it out of `waiting` resumes the task, so
/// each task is resumed once.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
final class Calls: @unchecked Sendable {
    static let shared: Calls = Calls()

    private struct Waiting {
        let task: CheckedContinuation<Completion, any Error>
        var isSubmitted = false
    }

    private let lock = NSLock()
    private var waiting: [UInt64: Waiting] = [:]
    private var lastNumber: UInt64 = 0
    /// The core's, which lives as long as the process.
    private let queue: UInt64 = kassa_queue_new({ _ in Calls.shared.takeCompletions() }, 0, 0)

    /// Makes a call and waits for its end, at most until the task is cancelled.
    func completion(of call: AsyncCall) async throws -> Completion {
        let number = lock.withLock {
            lastNumber += 1
            return lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { make(call, number, for: $0) }
        } onCancel: {
            giveUp(number)
        }
    }

    private func make(_ call: AsyncCall, _ number: UInt64, for task: CheckedContinuation<Completion, any Error>) {
        // Not even written then: what is written holds objects of the core, which only the core releases.
        guard !Task.isCancelled else { return task.resume(throwing: CancellationError()) }
        lock.withLock { waiting[number] = Waiting(task: task) }
        submit(call, number)
        lock.withLock { waiting[number]?.isSubmitted = true }
        // A cancellation until here found nothing to give up.
        if Task.isCancelled { giveUp(number) }
    }

    private func submit(_ call: AsyncCall, _ number: UInt64) {
        var message: [UInt8] = []
        // Enough for most calls. A message that grows leaves copies behind, which are not wiped.
        message.reserveCapacity(2048)
        FfiConverterTypeAsyncCall.write(call, into: &message)
        message.withUnsafeMutableBytes { kassa_submit(queue, number, 0, $0.address, UInt64($0.count)) }
    }

    /// Does nothing for a call that is complete, and for one that is not submitted yet: its own thread looks after that.
    private func giveUp(_ number: UInt64) {
        let task = lock.withLock {
            waiting[number]?.isSubmitted == true ? waiting.removeValue(forKey: number)?.task : nil
        }
        guard let task else { return }
        kassa_cancel(queue, number)
        task.resume(throwing: CancellationError())
    }

    /// Hands the completions on that are there. It is called on threads of the core's; what they mean is read by the tasks.
    private func takeCompletions() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: MemoryLayout<UInt64>.alignment) { memory in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            var isMore = true
            while isMore {
                let written = kassa_take(queue, memory.address, UInt64(memory.count), 0)
                isMore = written < 0
                var completions = Completions(memory: memory, end: Int(written.magnitude))
                while let (number, completion) = completions.next() {
                    // One that was given up meanwhile has nobody who waits.
                    lock.withLock { waiting.removeValue(forKey: number) }?.task.resume(returning: completion)
                }
            }
        }
    }
}

/// The completions in a memory, as the core has written them: see `Memory::add` in `bindings/native/src/memory.rs`.
private struct Completions {
    /// What stands before a value: the number of the call, and the status.
    private static let head = 16

    let memory: UnsafeMutableRawBufferPointer
    let end: Int
    private var at = 0

    init(memory: UnsafeMutableRawBufferPointer, end: Int) {
        self.memory = memory
        self.end = end
    }

    mutating func next() -> (number: UInt64, Completion)? {
        guard at < end else { return nil }
        let number = word()
        let status = word()
        let value = value(of: Int(status >> 8))
        return (number, Completion(code: Completion.Code(rawValue: UInt8(truncatingIfNeeded: status)) ?? .defect, value: value))
    }

    private mutating func value(of length: Int) -> Data {
        if length <= memory.count - Self.head {
            defer { at += length }
            return Data(memory[at..<at + length])
        }
        // A longer one was left where it is.
        let (address, capacity) = (word(), word())
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(bitPattern: UInt(address))!, count: length,
            deallocator: .custom { _, _ in kassa_free(address, capacity) })
    }

    private mutating func word() -> UInt64 {
        defer { at += 8 }
        return UInt64(bigEndian: memory.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }
}

extension UnsafeMutableRawBufferPointer {
    /// As the core takes one; an empty memory may have none.
    fileprivate var address: UInt64 { UInt64(UInt(bitPattern: baseAddress)) }
}
