import Foundation
import Testing

/// What the manifest declares.
@Suite struct PrivacyTests {
    private let manifest: [String: Any]

    private let file = URL(filePath: #filePath).appending(path: "../../../Sources/KassaCheckout/PrivacyInfo.xcprivacy").standardized

    init() throws {
        let read = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        manifest = try #require(read as? [String: Any])
    }

    #if os(Linux)
        @Test func anAppTakesItAlong() throws {
            let builds = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            let built = builds.appending(path: "Kassa_KassaCheckout.resources/PrivacyInfo.xcprivacy")
            #expect(try Data(contentsOf: built) == Data(contentsOf: file))
        }
    #endif

    @Test func nobodyIsTracked() {
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [String])?.isEmpty == true)
    }

    @Test func whatIsCollectedIsForThePaymentAlone() throws {
        let collected = try #require(manifest["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
        let types = collected.compactMap { $0["NSPrivacyCollectedDataType"] as? String }
        #expect(types == ["NSPrivacyCollectedDataTypePaymentInfo", "NSPrivacyCollectedDataTypePhoneNumber"])
        for one in collected {
            #expect(one["NSPrivacyCollectedDataTypeLinked"] as? Bool == true)
            #expect(one["NSPrivacyCollectedDataTypeTracking"] as? Bool == false)
            #expect(
                one["NSPrivacyCollectedDataTypePurposes"] as? [String] == ["NSPrivacyCollectedDataTypePurposeAppFunctionality"])
        }
    }

    @Test func theJournalsOwnFilesAreAllThatIsLookedAt() throws {
        let used = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        #expect(used.compactMap { $0["NSPrivacyAccessedAPIType"] as? String } == ["NSPrivacyAccessedAPICategoryFileTimestamp"])
        #expect(used.first?["NSPrivacyAccessedAPITypeReasons"] as? [String] == ["C617.1"])
    }

    @Test func eachKeyIsOneOfApples() {
        let keys: Set = ["NSPrivacyTracking", "NSPrivacyTrackingDomains", "NSPrivacyCollectedDataTypes", "NSPrivacyAccessedAPITypes"]
        #expect(Set(manifest.keys) == keys)
    }
}
