#if canImport(UIKit)
    import UIKit

    /// Opens a universal link in its app, never in a browser, where a bank's code leads nowhere. Returns whether an app opened it.
    @available(iOS 17, *)
    @MainActor func opensInApp(_ link: URL) async -> Bool {
        await UIApplication.shared.open(link, options: [.universalLinksOnly: true])
    }

    /// Opens a bank's link in its app, or in a browser if there is none: the page says which app to install. Returns whether
    /// it was opened.
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
