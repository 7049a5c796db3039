import Foundation
import Testing

/// What the manifests declare: that of the payment screen, and that of the core, which is linked without it, too.
@Suite struct PrivacyTests {
    private let screen: [String: Any]
    private let core: [String: Any]

    init() throws {
        (screen, core) = (try manifest("KassaCheckout"), try manifest("Kassa"))
    }

    #if os(Linux)
        @Test(arguments: ["KassaCheckout", "Kassa"]) func appTakesItAlong(target: String) throws {
            let builds = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            let built = builds.appending(path: "Kassa_\(target).resources/PrivacyInfo.xcprivacy")
            #expect(try Data(contentsOf: built) == Data(contentsOf: file(target)))
        }
    #endif

    @Test func nobodyIsTracked() {
        for one in [screen, core] {
            #expect(one["NSPrivacyTracking"] as? Bool == false)
            #expect((one["NSPrivacyTrackingDomains"] as? [String])?.isEmpty == true)
        }
    }

    @Test func whatIsCollectedIsForThePaymentAlone() throws {
        let collected = try #require(screen["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
        let types = collected.compactMap { $0["NSPrivacyCollectedDataType"] as? String }
        #expect(types == ["NSPrivacyCollectedDataTypePaymentInfo", "NSPrivacyCollectedDataTypePhoneNumber"])
        for one in collected {
            #expect(one["NSPrivacyCollectedDataTypeLinked"] as? Bool == true)
            #expect(one["NSPrivacyCollectedDataTypeTracking"] as? Bool == false)
            #expect(
                one["NSPrivacyCollectedDataTypePurposes"] as? [String] == ["NSPrivacyCollectedDataTypePurposeAppFunctionality"])
        }
        #expect((core["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true, "what an app sends by it is the app's to say")
    }

    @Test func journalsOwnFilesAreAllThatIsLookedAt() throws {
        let used = try #require(core["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        #expect(used.compactMap { $0["NSPrivacyAccessedAPIType"] as? String } == ["NSPrivacyAccessedAPICategoryFileTimestamp"])
        #expect(used.first?["NSPrivacyAccessedAPITypeReasons"] as? [String] == ["C617.1"])
        #expect((screen["NSPrivacyAccessedAPITypes"] as? [Any])?.isEmpty == true)
    }

    @Test func eachKeyIsOneOfApples() {
        let keys: Set = ["NSPrivacyTracking", "NSPrivacyTrackingDomains", "NSPrivacyCollectedDataTypes", "NSPrivacyAccessedAPITypes"]
        #expect(Set(screen.keys) == keys && Set(core.keys) == keys)
    }
}

private func file(_ target: String) -> URL {
    URL(filePath: #filePath).appending(path: "../../../Sources/\(target)/PrivacyInfo.xcprivacy").standardized
}

private func manifest(_ target: String) throws -> [String: Any] {
    let read = try PropertyListSerialization.propertyList(from: Data(contentsOf: file(target)), format: nil)
    return try #require(read as? [String: Any])
}
