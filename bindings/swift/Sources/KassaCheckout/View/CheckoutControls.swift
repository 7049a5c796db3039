#if canImport(SwiftUI)
    import Kassa
    import SwiftUI

    /// What the payer can do now.
    @available(iOS 17, macOS 14, *)
    struct CheckoutControls: View {
        @Bindable var model: CheckoutModel
        let open: (URL) -> Void

        var body: some View {
            if case .enterOtp = model.state { codeEntry }
            if let picture = model.qrPicture { qrCode(picture) }
            if let page = model.page { pageButton(page) }
            if model.canCheckNow { Button(model.checkNowText) { model.checkNow() } }
            if model.canChangeMethod { change }
            if !model.methods.isEmpty { choice }
            if model.canKeepMethod { Section { Button(model.labels.backToCode) { model.keepMethod() } } }
        }

        private var codeEntry: some View {
            Section {
                // With the code the payer agrees to it, so it stands out.
                if let cost = model.texts.cost { Text(cost).font(model.appearance.titleFont) }
                CheckoutTextField(model: model, field: .code, text: $model.code)
                mainButton(model.labels.confirm) { model.confirm() }
            }
        }

        @ViewBuilder private func qrCode(_ picture: Data) -> some View {
            Section {
                if let image = Image(png: picture) {
                    image.interpolation(.none).resizable().scaledToFit().accessibilityLabel(model.labels.qrPicture)
                }
                bankButtons
                if let notice = model.bankAppNotice { Label(notice, systemImage: "exclamationmark.circle") }
                #if canImport(UIKit) && canImport(Photos)
                    if model.canSavePicture { Button(model.labels.savePicture) { save(picture) } }
                    if let notice = model.pictureNotice { Text(notice).font(model.appearance.hintFont) }
                #endif
            }
        }

        /// A code in ELQR opens in the app of any bank; another one opens where it leads.
        @ViewBuilder private var bankButtons: some View {
            let banks = model.bankLinks
            if let anyBank = banks.first {
                mainButton(model.labels.openBankApp) { openBank(anyBank.url) }
                Menu(model.labels.chooseBank) {
                    ForEach(banks.dropFirst(), id: \.self) { bank in
                        Button(bank.bank) { openBank(bank.url) }
                    }
                }
            } else if let link = model.qrLink {
                mainButton(model.labels.openBankApp) { openBankApp(link) }
            }
        }

        /// Quieter where the payer has been there.
        @ViewBuilder private func pageButton(_ page: URL) -> some View {
            if case .openPage = model.state {
                mainButton(model.openPageText) { open(page) }
            } else {
                Button(model.openPageText) { open(page) }
            }
        }

        private func mainButton(_ title: String, action: @escaping @MainActor () -> Void) -> CheckoutMainButton {
            CheckoutMainButton(title: title, appearance: model.appearance, action: action)
        }

        private func openBankApp(_ link: URL) {
            Task { @MainActor in model.bankAppOpened(await opensInApp(link)) }
        }

        private func openBank(_ link: URL) {
            Task { @MainActor in model.bankAppOpened(await opensBank(link)) }
        }

        #if canImport(UIKit) && canImport(Photos)
            private func save(_ picture: Data) {
                Task { @MainActor in
                    let isSaved = await savesPicture(picture)
                    // Another code may be shown by now.
                    if model.qrPicture == picture { model.pictureSaved(isSaved) }
                }
            }
        #endif

        private var change: some View {
            Section {
                Button(model.changeMethodText) { model.changeMethod() }.font(model.appearance.hintFont)
            } footer: {
                Text(model.changeMethodHint)
            }
        }

        private var choice: some View {
            Section {
                ForEach(model.methods, id: \.self) { method in
                    Button { model.choose(method) } label: { way(method) }
                        .accessibilityAddTraits(model.method == method ? .isSelected : [])
                }
                if asksForPhone { CheckoutTextField(model: model, field: .phone, text: $model.phone, hint: model.phoneHint) }
                if model.method == .card { CheckoutCardFields(model: model) }
                // Nothing is taken before the code.
                mainButton(asksForPhone ? model.labels.proceed : model.payText) { model.pay() }.disabled(model.method == nil)
            } header: {
                if model.page != nil { Text(model.labels.otherWay) }
            } footer: {
                if model.page != nil { Text(model.labels.otherWayHint) }
            }
        }

        private var asksForPhone: Bool { model.method?.asksForPhone ?? false }

        private func way(_ method: PaymentMethod) -> some View {
            LabeledContent {
                if model.method == method { Image(systemName: "checkmark").accessibilityHidden(true) }
            } label: {
                Text(model.labels.name(of: method))
                Text(model.labels.hint(of: method))
            }
        }
    }
#endif
