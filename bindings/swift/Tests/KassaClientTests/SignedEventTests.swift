import Foundation
import KassaStage
import Testing

@testable import KassaClient

/// Events as the server signs them, by the vectors that every language reads.
@Suite struct SignedEventTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let now = Date(timeIntervalSince1970: 1_767_204_060)
    private static let vectors = try! JSON(parsing: Data(contentsOf: repository.appending(path: "tests/events/signed.json"))).array!

    @Test func thereAreVectors() { #expect(Self.vectors.count >= 40) }

    @Test(arguments: vectors) func everyVectorHasItsOutcome(_ vector: JSON) throws {
        let secrets = try #require(vector["secrets"].array).map(\.text)
        let outcome = Result {
            try KassaClient.verifyEvent(
                body: vector["body"].bytes, headers: vector["headers"].object.mapValues(\.text), secrets: secrets,
                now: Date(timeIntervalSince1970: Double(vector["now"].whole)))
        }
        let wanted = vector["outcome"]
        switch outcome {
        case .success(let event): #expect(plain(event) == exact(wanted["event"]), "\(vector["name"])")
        case .failure(let error):
            let error = try #require(error as? EventError)
            #expect(error.reason.rawValue.uppercased() == wanted["error"].string, "\(vector["name"]): \(error)")
            for secret in secrets where secret.count > 6 { #expect(!"\(error)".contains(secret.dropFirst(6))) }
        }
    }

    @Test func whatIsSignedIsVerified() throws {
        let signed = try KassaClient.signEvent(
            secret: Self.secret, reference: "order-18", amount: "12.50", after: "expired", now: Self.now)
        let event = try verify(signed)
        #expect(event.id == signed.headers["webhook-id"] && event.reference == "order-18")
        #expect(event.amount == Decimal(string: "12.5") && event.timestamp == Self.now)
        #expect(event.isPaid && event.after == "expired" && event.checkoutState == "paid")
        let expired = try verify(KassaClient.signEvent(secret: Self.secret, kind: "checkout.expired", now: Self.now))
        #expect(!expired.isPaid && expired.checkoutState == "expired")
        // As a framework does that has no dictionary.
        let found = try KassaClient.verifyEvent(
            body: Array(signed.body), header: { name in signed.headers.first { $0.key == name }?.value }, secrets: [Self.secret],
            now: Self.now)
        #expect(found == event)
        #expect(throws: EventError.self) { try KassaClient.signEvent(secret: "ak_something") }
    }

    @Test func errorsSayWhatToDo() throws {
        let signed = try KassaClient.signEvent(secret: Self.secret, now: Self.now)
        func text(after seconds: Double = 0, secrets: [String] = [Self.secret], body: Data? = nil) -> String {
            do {
                _ = try verify(signed, secrets: secrets, body: body, now: Self.now + seconds)
                return "accepted"
            } catch {
                return "\(error)"
            }
        }
        #expect(text(after: 420).contains("420 s ago, and 300.0 seconds are allowed: check the clocks"))
        #expect(text(after: -420).contains("420 s ahead"))
        #expect(text(after: 300) == "accepted" && text(after: -300) == "accepted")
        #expect(text(secrets: ["ak_something"]).contains("the secret must be whsec_"))
        #expect(text(secrets: [Self.secret, "whsec_"]).hasPrefix("secret 2 of 2 must be"))
        #expect(text(secrets: []).contains("there is no secret"))
        #expect(text(body: signed.body + Data("\n".utf8)).contains("pass the bytes as they came"))
        let late = try KassaClient.verifyEvent(
            body: signed.body, headers: signed.headers, secrets: [Self.secret], tolerance: .seconds(3600), now: Self.now + 420)
        #expect(late.isPaid)
    }

    @Test(arguments: [Data([0xff]), Data(String(repeating: "[", count: 100_000).utf8), Data("null".utf8), Data(#"{"id":1}"#.utf8)])
    func oddBodiesAreNoEvent(_ body: Data) throws {
        let timestamp = "\(Int(Self.now.timeIntervalSince1970))"
        let key = Array(Data(base64Encoded: String(Self.secret.dropFirst(6)))!)
        let code = Data(hmacSHA256(key: key, Data("evt_1.\(timestamp).".utf8) + body)).base64EncodedString()
        let headers = ["webhook-id": "evt_1", "webhook-timestamp": timestamp, "webhook-signature": "v1,\(code)"]
        do {
            _ = try KassaClient.verifyEvent(body: body, headers: headers, secrets: [Self.secret], now: Self.now)
            Issue.record("it was accepted")
        } catch let error as EventError {
            #expect(error.reason == .malformedEvent)
        }
    }

    /// FIPS 180-4's examples, and lengths around the end of a block, of which the hash of hashes was computed by Python's hashlib.
    @Test func hashesAreThoseOfTheStandard() {
        #expect(hex(sha256([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(hex(sha256("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        let all = (0...200).flatMap { sha256([UInt8](repeating: 0x61, count: $0)) }
        #expect(hex(sha256(all)) == "1be2d7d291484baf4c78d463a65b40a26c255b1946e5205eac8edad606a76fdd")
    }

    /// The test cases of RFC 4231 for HMAC-SHA-256, but the truncated one.
    @Test func codesAreThoseOfTheStandard() {
        func code(_ key: [UInt8], _ message: some Sequence<UInt8>) -> String { hex(hmacSHA256(key: key, message)) }
        func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
        let large = "Test Using Larger Than Block-Size Key - Hash Key First"
        let larger =
            "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before "
            + "being used by the HMAC algorithm."
        #expect(code(bytes(0x0b, 20), "Hi There".utf8) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            code(Array("Jefe".utf8), "what do ya want for nothing?".utf8)
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(code(bytes(0xaa, 20), bytes(0xdd, 50)) == "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe")
        #expect(code(Array(1...25), bytes(0xcd, 50)) == "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b")
        #expect(code(bytes(0xaa, 131), large.utf8) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
        #expect(code(bytes(0xaa, 131), larger.utf8) == "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2")
        #expect(isEqual([1, 2], [1, 2]) && !isEqual([1, 2], [1, 3]) && !isEqual([1], [1, 2]))
    }

    private func verify(
        _ signed: KassaClient.SignedEvent, secrets: [String] = [Self.secret], body: Data? = nil, now: Date = Self.now
    ) throws -> KassaClient.Event {
        try KassaClient.verifyEvent(body: body ?? signed.body, headers: signed.headers, secrets: secrets, now: now)
    }

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }

    /// An event as the vectors write it; amounts by their value.
    private func plain(_ event: KassaClient.Event) -> JSON {
        let payment = event.payment.map { payment in
            members([
                "id": JSON(payment.id), "method": JSON(payment.method), "state": JSON(payment.state),
                "commission": amount(payment.commission), "total": amount(payment.total),
                "code_expires_at_ms": milliseconds(payment.codeExpiresAt),
            ])
        }
        let via = event.via.map { JSON.object(["role": JSON($0.role), "key": JSON($0.key)]) }
        return members([
            "id": JSON(event.id), "kind": JSON(event.kind), "timestamp_ms": milliseconds(event.timestamp),
            "checkout": JSON(event.checkout), "reference": JSON(event.reference), "amount": amount(event.amount),
            "currency": JSON(event.currency), "checkout_state": JSON(event.checkoutState), "version": JSON(Int(event.version)),
            "number": JSON(Int(event.number)), "payment": payment ?? .null, "after": JSON(event.after), "reason": JSON(event.reason),
            "by": JSON(event.by), "via": via ?? .null,
        ])
    }

    private func members(_ all: [String: JSON]) -> JSON { .object(all.filter { $0.value != .null }) }

    private func amount(_ amount: Decimal?) -> JSON { amount.map { .number($0) } ?? .null }

    private func milliseconds(_ time: Date?) -> JSON { JSON(time.map { Int(($0.timeIntervalSince1970 * 1000).rounded()) }) }

    /// A vector's event, with its amounts as numbers.
    private func exact(_ event: JSON) -> JSON {
        .object(
            event.object.reduce(into: [:]) { all, member in
                let isAmount = ["amount", "commission", "total"].contains(member.key)
                all[member.key] =
                    member.key == "payment"
                    ? exact(member.value) : isAmount ? amount(Decimal(string: member.value.text)) : member.value
            })
    }
}

/// The root of the repository.
let repository = URL(filePath: #filePath).appending(path: "../../../../../").standardized
