#if canImport(UIKit)
    import UIKit

    /// Opens a link in the app that has claimed it (a universal link), and nothing where there is none: in a browser a code of a bank leads
    /// nowhere. Whether one was opened.
    @available(iOS 17, *)
    @MainActor func opensInApp(_ link: URL) async -> Bool {
        await UIApplication.shared.open(link, options: [.universalLinksOnly: true])
    }

    /// Opens a link of a bank in the app that has claimed it, and in a browser where there is none: its page says which app to install. Whether
    /// one was opened.
    @available(iOS 17, *)
    @MainActor func opensBank(_ link: URL) async -> Bool {
        if await opensInApp(link) { return true }
        return await UIApplication.shared.open(link)
    }
#elseif canImport(AppKit)
    import AppKit

    /// The same on a Mac.
    @available(macOS 14, *)
    @MainActor func opensInApp(_ link: URL) async -> Bool {
        let inAppsAlone = NSWorkspace.OpenConfiguration()
        inAppsAlone.requiresUniversalLinks = true
        return await withCheckedContinuation { opened in
            NSWorkspace.shared.open(link, configuration: inAppsAlone) { @Sendable app, _ in opened.resume(returning: app != nil) }
        }
    }

    /// The same on a Mac.
    @available(macOS 14, *)
    @MainActor func opensBank(_ link: URL) async -> Bool {
        if await opensInApp(link) { return true }
        return NSWorkspace.shared.open(link)
    }
#endif
