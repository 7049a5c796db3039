#if canImport(SwiftUI)
    import Kassa
    import SwiftUI

    /// The fields of a card.
    @available(iOS 17, macOS 14, *)
    struct CheckoutCardFields: View {
        @Bindable var model: CheckoutModel

        var body: some View {
            CheckoutTextField(model: model, field: .cardNumber, text: $model.cardNumber)
            CheckoutTextField(model: model, field: .cardExpiry, text: $model.cardExpiry)
            CheckoutTextField(model: model, field: .cardCvc, text: $model.cardCvc, hint: model.labels.cardCvcHint)
            CheckoutTextField(model: model, field: .cardHolder, text: $model.cardHolder)
        }
    }

    /// One field, with the error, or else a hint.
    @available(iOS 17, macOS 14, *)
    struct CheckoutTextField: View {
        let model: CheckoutModel
        let field: CheckoutField
        @Binding var text: String
        var hint: String?

        var body: some View {
            VStack(alignment: .leading) {
                TextField(label, text: $text)
                    .typed(as: field)
                    .autocorrectionDisabled()
                    .accessibilityLabel(label)
                if let error = model.error(of: field) {
                    Text(error).font(model.appearance.hintFont).foregroundStyle(.red)
                } else if let hint {
                    Text(hint).font(model.appearance.hintFont).foregroundStyle(.secondary)
                }
            }
        }

        private var label: String { model.labels.name(of: field) }
    }

    @available(iOS 17, macOS 14, *)
    extension View {
        /// The keyboard and what the system may fill in.
        fileprivate func typed(as field: CheckoutField) -> some View {
            #if canImport(UIKit)
                textContentType(field.contentType).keyboardType(field.keyboard)
            #else
                self
            #endif
        }
    }

    #if canImport(UIKit)
        @available(iOS 17, *)
        extension CheckoutField {
            fileprivate var contentType: UITextContentType {
                switch self {
                case .phone: .telephoneNumber
                case .code: .oneTimeCode
                case .cardNumber: .creditCardNumber
                case .cardExpiry: .creditCardExpiration
                case .cardCvc: .creditCardSecurityCode
                case .cardHolder: .creditCardName
                }
            }

            fileprivate var keyboard: UIKeyboardType {
                switch self {
                case .phone: .phonePad
                case .code, .cardNumber, .cardExpiry, .cardCvc: .numberPad
                case .cardHolder: .default
                }
            }
        }
    #endif

    @available(iOS 17, macOS 14, *)
    extension Image {
        /// A picture of the model's.
        init?(png: Data) {
            #if canImport(UIKit)
                guard let picture = UIImage(data: png) else { return nil }
                self.init(uiImage: picture)
            #else
                guard let picture = NSImage(data: png) else { return nil }
                self.init(nsImage: picture)
            #endif
        }
    }
#endif
