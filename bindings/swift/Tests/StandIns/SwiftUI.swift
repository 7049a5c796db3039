// A stand-in for Apple's SwiftUI: it declares what the views of this package use, with the signatures of Apple's (iOS 17, Xcode 16), and does
// nothing. scripts/swift/check-views type-checks the views against it where there is no Mac. It is never part of a program. Nothing is stored,
// so that every view can be made outside of the main actor, as Apple's can.

@_exported import Observation
@_exported import UIKit

// MARK: Views

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension View where Body == Never {
    public var body: Never { fatalError() }
}

extension Never: View {
    public typealias Body = Never
}

extension Optional: View where Wrapped: View {
    public typealias Body = Never
}

public struct EmptyView: View {
    public typealias Body = Never
    public nonisolated init() {}
}

public struct TupleView<T>: View {
    public typealias Body = Never
    public nonisolated init(_ value: T) {}
}

public struct _ConditionalContent<TrueContent: View, FalseContent: View>: View {
    public typealias Body = Never
    nonisolated init() {}
}

@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }

    public static func buildBlock() -> EmptyView { EmptyView() }

    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }

    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> {
        TupleView((repeat each content))
    }

    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }

    public static func buildEither<TrueContent: View, FalseContent: View>(
        first: TrueContent
    ) -> _ConditionalContent<TrueContent, FalseContent> { _ConditionalContent() }

    public static func buildEither<TrueContent: View, FalseContent: View>(
        second: FalseContent
    ) -> _ConditionalContent<TrueContent, FalseContent> { _ConditionalContent() }
}

public struct Text: View {
    public typealias Body = Never
    public nonisolated init<S: StringProtocol>(_ content: S) {}
    public nonisolated init(verbatim content: String) {}
}

public struct Image: View {
    public typealias Body = Never

    public enum Interpolation: Sendable {
        case none
    }

    public nonisolated init(systemName: String) {}
    public nonisolated init(uiImage: UIImage) {}
    public nonisolated func interpolation(_ interpolation: Interpolation) -> Image { self }
    public nonisolated func resizable() -> Image { self }
}

public struct Label<Title: View, Icon: View>: View {
    public typealias Body = Never
}

extension Label where Title == Text, Icon == Image {
    public nonisolated init<S: StringProtocol>(_ title: S, systemImage name: String) {}
}

public struct LabeledContent<Label: View, Content: View>: View {
    public typealias Body = Never
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {}
}

extension LabeledContent where Label == Text, Content == Text {
    public nonisolated init<S1: StringProtocol, S2: StringProtocol>(_ title: S1, value: S2) {}
}

public struct Button<Label: View>: View {
    public typealias Body = Never
    public nonisolated init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}

extension Button where Label == Text {
    public nonisolated init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
}

public struct Menu<Label: View, Content: View>: View {
    public typealias Body = Never
}

extension Menu where Label == Text {
    public nonisolated init<S: StringProtocol>(_ title: S, @ViewBuilder content: () -> Content) {}
}

public struct TextField<Label: View>: View {
    public typealias Body = Never
}

extension TextField where Label == Text {
    public nonisolated init<S: StringProtocol>(_ title: S, text: Binding<String>) {}
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
    public typealias Body = Never
    public nonisolated init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}

public struct Form<Content: View>: View {
    public typealias Body = Never
    public nonisolated init(@ViewBuilder content: () -> Content) {}
}

public struct Section<Parent: View, Content: View, Footer: View>: View {
    public typealias Body = Never
    public nonisolated init(
        @ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent, @ViewBuilder footer: () -> Footer
    ) {}
}

extension Section where Parent == EmptyView {
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) {}
}

extension Section where Parent == EmptyView, Footer == EmptyView {
    public nonisolated init(@ViewBuilder content: () -> Content) {}
}

public struct NavigationStack<Root: View>: View {
    public typealias Body = Never
    public nonisolated init(@ViewBuilder root: () -> Root) {}
}

public struct VStack<Content: View>: View {
    public typealias Body = Never
    public nonisolated init(alignment: HorizontalAlignment = .center, @ViewBuilder content: () -> Content) {}
}

public struct HStack<Content: View>: View {
    public typealias Body = Never
    public nonisolated init(@ViewBuilder content: () -> Content) {}
}

public struct ProgressView: View {
    public typealias Body = Never
    public nonisolated init() {}
}

public struct ZStack<Content: View>: View {
    public typealias Body = Never
    public nonisolated init(@ViewBuilder content: () -> Content) {}
}

public struct HorizontalAlignment: Sendable {
    public static let leading = HorizontalAlignment()
    public static let center = HorizontalAlignment()
}

// MARK: Shapes and styles

public protocol Shape: View {}

extension Shape {
    public nonisolated func fill<S: ShapeStyle>(_ content: S) -> some View { EmptyView() }
}

public struct Rectangle: Shape {
    public typealias Body = Never
    public nonisolated init() {}
}

public protocol ShapeStyle: Sendable {}

public struct Color: ShapeStyle {
    public enum RGBColorSpace: Sendable {
        case sRGB
    }

    public init(_ colorSpace: RGBColorSpace = .sRGB, red: Double, green: Double, blue: Double, opacity: Double = 1) {}

    /// For this module alone.
    init() {}
}

public struct BackgroundStyle: ShapeStyle {}

public struct HierarchicalShapeStyle: ShapeStyle {}

extension ShapeStyle where Self == Color {
    public static var red: Color { Color() }
    public static var green: Color { Color() }
    public static var orange: Color { Color() }
}

extension ShapeStyle where Self == BackgroundStyle {
    public static var background: BackgroundStyle { BackgroundStyle() }
}

extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var secondary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
}

public struct Font: Hashable, Sendable {
    public static let largeTitle = Font()
    public static let headline = Font()
    public static let footnote = Font()

    public enum TextStyle: Sendable {
        case largeTitle
        case headline
        case body
        case footnote
    }

    public static func custom(_ name: String, size: CGFloat, relativeTo textStyle: TextStyle) -> Font { Font() }

    public func bold() -> Font { self }
}

public enum ColorScheme: Sendable {
    case light
    case dark
}

public protocol PrimitiveButtonStyle {}

public struct BorderedProminentButtonStyle: PrimitiveButtonStyle {}

extension PrimitiveButtonStyle where Self == BorderedProminentButtonStyle {
    public static var borderedProminent: BorderedProminentButtonStyle { BorderedProminentButtonStyle() }
}

public struct ButtonBorderShape: Equatable, Sendable {
    public static let automatic = ButtonBorderShape()

    public static func roundedRectangle(radius: CGFloat) -> ButtonBorderShape { ButtonBorderShape() }
}

// MARK: Modifiers

extension View {
    public nonisolated func font(_ font: Font?) -> some View { EmptyView() }
    public nonisolated func tint(_ tint: Color?) -> some View { EmptyView() }
    public nonisolated func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { EmptyView() }
    public nonisolated func buttonBorderShape(_ shape: ButtonBorderShape) -> some View { EmptyView() }
    public nonisolated func preferredColorScheme(_ colorScheme: ColorScheme?) -> some View { EmptyView() }
    public nonisolated func frame(maxWidth: CGFloat? = nil) -> some View { EmptyView() }
    public nonisolated func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { EmptyView() }
    public nonisolated func scaledToFit() -> some View { EmptyView() }
    public nonisolated func padding() -> some View { EmptyView() }
    public nonisolated func ignoresSafeArea() -> some View { EmptyView() }
    public nonisolated func overlay<V: View>(@ViewBuilder content: () -> V) -> some View { EmptyView() }
    public nonisolated func disabled(_ disabled: Bool) -> some View { EmptyView() }
    public nonisolated func privacySensitive(_ sensitive: Bool = true) -> some View { EmptyView() }
    public nonisolated func interactiveDismissDisabled(_ isDisabled: Bool = true) -> some View { EmptyView() }

    public nonisolated func navigationTitle<S: StringProtocol>(_ title: S) -> some View { EmptyView() }
    public nonisolated func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View { EmptyView() }

    public nonisolated func autocorrectionDisabled(_ disable: Bool = true) -> some View { EmptyView() }
    public nonisolated func textContentType(_ textContentType: UITextContentType?) -> some View { EmptyView() }
    public nonisolated func keyboardType(_ type: UIKeyboardType) -> some View { EmptyView() }

    public nonisolated func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View { EmptyView() }
    public nonisolated func accessibilityElement(children: AccessibilityChildBehavior = .ignore) -> some View { EmptyView() }
    public nonisolated func accessibilityHidden(_ hidden: Bool) -> some View { EmptyView() }
    public nonisolated func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { EmptyView() }

    public nonisolated func onAppear(perform action: (() -> Void)? = nil) -> some View { EmptyView() }
    public nonisolated func onDisappear(perform action: (() -> Void)? = nil) -> some View { EmptyView() }
    public nonisolated func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { EmptyView() }

    public nonisolated func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping () -> Void) -> some View {
        EmptyView()
    }
}

public struct AccessibilityChildBehavior: Hashable, Sendable {
    public static let ignore = AccessibilityChildBehavior()
}

public struct AccessibilityTraits: OptionSet, Sendable {
    public static let isSelected = AccessibilityTraits(rawValue: 1)
    public static let isHeader = AccessibilityTraits(rawValue: 2)

    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }
}

/// Of Apple's module Accessibility, which SwiftUI brings along.
public enum AccessibilityNotification {
    public struct Announcement {
        public init(_ announcement: String) {}
        public func post() {}
    }
}

// MARK: Properties of views

@propertyWrapper public struct Binding<Value> {
    /// For this module alone.
    init(standIn: Void) {}

    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }

    public var projectedValue: Binding<Value> { self }
}

@propertyWrapper public struct State<Value> {
    public init(wrappedValue value: Value) {}

    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }

    public var projectedValue: Binding<Value> { Binding(standIn: ()) }
}

extension State where Value: ExpressibleByNilLiteral {
    public init() {}
}

@propertyWrapper @dynamicMemberLookup public struct Bindable<Value: AnyObject & Observable> {
    public var wrappedValue: Value

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public var projectedValue: Bindable<Value> { self }

    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> { Binding(standIn: ()) }
}

@propertyWrapper public struct SceneStorage<Value> {
    public init(wrappedValue: Value, _ key: String) where Value: RawRepresentable, Value.RawValue == String {}

    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }

    public var projectedValue: Binding<Value> { Binding(standIn: ()) }
}

@propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}

    public var wrappedValue: Value { fatalError() }
}

public struct EnvironmentValues {
    public var scenePhase: ScenePhase { fatalError() }
    public var font: Font? { fatalError() }
    public var isEnabled: Bool { fatalError() }
}

public enum ScenePhase: Comparable, Sendable {
    case background
    case inactive
    case active
}
