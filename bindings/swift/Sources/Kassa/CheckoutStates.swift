internal import KassaGenerated

/// The states of a ``Checkout``, as they come: the one of now first, then each that is another one. One that was replaced before
/// anybody took it is left out.
///
/// Each iteration has all states for itself, so several screens can follow one checkout. It ends when the checkout is closed, when nobody
/// holds the ``Checkout`` any more, and at once where its task is cancelled; it never throws.
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

        /// The next state, when it is there; nil after the end, and where the task is cancelled.
        public mutating func next() async -> CheckoutState? {
            // The core has no error here.
            try? await untilCancelled { try await $0.nextState(states: core) }.map(CheckoutState.init)
        }
    }

    /// An iterator that begins with the state of now.
    public func makeAsyncIterator() -> Iterator { Iterator(core: core.states()) }
}

extension CheckoutStates: CustomStringConvertible, CustomReflectable {
    /// Its name.
    public var description: String { "CheckoutStates" }

    /// Nothing of what is inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
