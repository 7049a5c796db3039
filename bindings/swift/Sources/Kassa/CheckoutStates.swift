internal import KassaGenerated

/// The states of a ``Checkout`` as they change: the current one first, then each new one. A state that was replaced before it was read is
/// skipped.
///
/// Each iteration gets all states, so several screens can show one checkout. It ends when the checkout is closed or the ``Checkout`` is
/// released, and at once if its task is cancelled; it never throws.
public struct CheckoutStates: AsyncSequence, Sendable {
    /// What the iteration yields.
    public typealias Element = CheckoutState

    private let core: KassaGenerated.Checkout

    init(_ core: KassaGenerated.Checkout) {
        self.core = core
    }

    /// Yields the states.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let core: KassaGenerated.CheckoutStates

        /// Waits for the next state; nil after the end, or if the task is cancelled.
        public mutating func next() async -> CheckoutState? {
            // The only error is that the task was cancelled.
            try? await answer(to: .checkoutStatesNext(states: core), optional(FfiConverterTypeCheckoutState.read)).map(CheckoutState.init)
        }
    }

    /// An iterator that begins with the state of now.
    public func makeAsyncIterator() -> Iterator { Iterator(core: core.states()) }
}

extension CheckoutStates: CustomStringConvertible, CustomReflectable {
    /// Its name.
    public var description: String { "CheckoutStates" }

    /// A mask: nothing of the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
