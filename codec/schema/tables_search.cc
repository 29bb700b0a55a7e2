// Made by tools/generate_schema from the definitions of FHIR R4 (4.0.1); not to be edited.

#include "codec/schema/tables.h"

// clang-format off
#pragma clang diagnostic ignored "-Woverlength-strings"

namespace annals::schema::tables {

const char kSearchText[] =
"_contentResource-content_idResource-idResource.id_lastUpdatedResource-lastUpdatedResource.meta.lastUpdated_profileResour"
"ce-profileResource.meta.profile_queryResource-query_securityResource-securityResource.meta.security_sourceResource-sourc"
"eResource.meta.source_tagResource-tagResource.meta.tag_textDomainResource-textabatement-ageCondition-abatement-ageCondit"
"ion.abatement.as(Age) | Condition.abatement.as(Range)abatement-dateCondition-abatement-dateCondition.abatement.as(dateTi"
"me) | Condition.abatement.as(Period)abatement-stringCondition-abatement-stringCondition.abatement.as(string)abstractStru"
"ctureDefinition-abstractStructureDefinition.abstractaccessionSpecimen-accessionSpecimen.accessionIdentifieraccountCharge"
"Item-accountChargeItem.accountEncounter-accountEncounter.accountInvoice-accountInvoice.accountachievement-statusGoal-ach"
"ievement-statusGoal.achievementStatusactionAuditEvent-actionAuditEvent.actionConsent-actionConsent.provision.actionactiv"
"eHealthcareService-activeHealthcareService.activeOrganization-activeOrganization.activeOrganizationAffiliation-activeOrg"
"anizationAffiliation.activePatient-activePatient.activePractitioner-activePractitioner.activePractitionerRole-activePrac"
"titionerRole.activeRelatedPerson-activeRelatedPerson.activeSchedule-activeSchedule.activeactivity-codeCarePlan-activity-"
"codeCarePlan.activity.detail.codeactivity-dateCarePlan-activity-dateCarePlan.activity.detail.scheduledactivity-reference"
"CarePlan-activity-referenceCarePlan.activity.referenceactorAppointment-actorAppointment.participant.actorAppointmentResp"
"onse-actorAppointmentResponse.actorConsent-actorConsent.provision.actor.referenceSchedule-actorSchedule.actoractualGroup"
"-actualGroup.actualactualityAdverseEvent-actualityAdverseEvent.actualityadditiveNutritionOrder-additiveNutritionOrder.en"
"teralFormula.additiveTypeaddressAuditEvent-addressAuditEvent.agent.network.addressInsurancePlan-addressInsurancePlan.con"
"tact.addressLocation-addressLocation.addressOrganization-addressOrganization.addressindividual-addressPatient.address | "
"Person.address | Practitioner.address | RelatedPerson.addressaddress-cityInsurancePlan-address-cityInsurancePlan.contact"
".address.cityLocation-address-cityLocation.address.cityOrganization-address-cityOrganization.address.cityindividual-addr"
"ess-cityPatient.address.city | Person.address.city | Practitioner.address.city | RelatedPerson.address.cityaddress-count"
"ryInsurancePlan-address-countryInsurancePlan.contact.address.countryLocation-address-countryLocation.address.countryOrga"
"nization-address-countryOrganization.address.countryindividual-address-countryPatient.address.country | Person.address.c"
"ountry | Practitioner.address.country | RelatedPerson.address.countryaddress-postalcodeInsurancePlan-address-postalcodeI"
"nsurancePlan.contact.address.postalCodeLocation-address-postalcodeLocation.address.postalCodeOrganization-address-postal"
"codeOrganization.address.postalCodeindividual-address-postalcodePatient.address.postalCode | Person.address.postalCode |"
" Practitioner.address.postalCode | RelatedPerson.address.postalCodeaddress-stateInsurancePlan-address-stateInsurancePlan"
".contact.address.stateLocation-address-stateLocation.address.stateOrganization-address-stateOrganization.address.statein"
"dividual-address-statePatient.address.state | Person.address.state | Practitioner.address.state | RelatedPerson.address."
"stateaddress-useInsurancePlan-address-useInsurancePlan.contact.address.useLocation-address-useLocation.address.useOrgani"
"zation-address-useOrganization.address.useindividual-address-usePatient.address.use | Person.address.use | Practitioner."
"address.use | RelatedPerson.address.useadministered-byInsurancePlan-administered-byInsurancePlan.administeredByagentAudi"
"tEvent-agentAuditEvent.agent.whoProvenance-agentProvenance.agent.whoagent-nameAuditEvent-agent-nameAuditEvent.agent.name"
"agent-roleAuditEvent-agent-roleAuditEvent.agent.roleProvenance-agent-roleProvenance.agent.roleagent-typeProvenance-agent"
"-typeProvenance.agent.typealtidAuditEvent-altidAuditEvent.agent.altIdappointmentAppointmentResponse-appointmentAppointme"
"ntResponse.appointmentEncounter-appointmentEncounter.appointmentappointment-typeAppointment-appointment-typeAppointment."
"appointmentTypeSlot-appointment-typeSlot.appointmentTypeasserterAllergyIntolerance-asserterAllergyIntolerance.asserterCo"
"ndition-asserterCondition.asserterassessorClinicalImpression-assessorClinicalImpression.assessorattesterComposition-atte"
"sterComposition.attester.partyauthenticatorDocumentReference-authenticatorDocumentReference.authenticatorauthorBasic-aut"
"horBasic.authorComposition-authorComposition.authorDetectedIssue-authorDetectedIssue.authorDocumentManifest-authorDocume"
"ntManifest.authorDocumentReference-authorDocumentReference.authorFlag-authorFlag.authorLinkage-authorLinkage.authorMessa"
"geHeader-authorMessageHeader.authorQuestionnaireResponse-authorQuestionnaireResponse.authorRequestGroup-authorRequestGro"
"up.authorauthoredCommunicationRequest-authoredCommunicationRequest.authoredOnQuestionnaireResponse-authoredQuestionnaire"
"Response.authoredRequestGroup-authoredRequestGroup.authoredOnServiceRequest-authoredServiceRequest.authoredOnauthored-on"
"DeviceRequest-authored-onDeviceRequest.authoredOnTask-authored-onTask.authoredOnauthoredonMedicationRequest-authoredonMe"
"dicationRequest.authoredOnauthorityContract-authorityContract.authoritybaseOperationDefinition-baseOperationDefinition.b"
"aseSearchParameter-baseSearchParameter.baseStructureDefinition-baseStructureDefinition.baseDefinitionbase-pathStructureD"
"efinition-base-pathStructureDefinition.snapshot.element.base.path | StructureDefinition.differential.element.base.pathba"
"sed-onAppointment-based-onAppointment.basedOnCarePlan-based-onCarePlan.basedOnCommunication-based-onCommunication.basedO"
"nCommunicationRequest-based-onCommunicationRequest.basedOnDeviceRequest-based-onDeviceRequest.basedOnDiagnosticReport-ba"
"sed-onDiagnosticReport.basedOnEncounter-based-onEncounter.basedOnMedia-based-onMedia.basedOnObservation-based-onObservat"
"ion.basedOnProcedure-based-onProcedure.basedOnQuestionnaireResponse-based-onQuestionnaireResponse.basedOnServiceRequest-"
"based-onServiceRequest.basedOnTask-based-onTask.basedOnbasedonImagingStudy-basedonImagingStudy.basedOnbeneficiaryCoverag"
"e-beneficiaryCoverage.beneficiarybirthdateindividual-birthdatePatient.birthDate | Person.birthDate | RelatedPerson.birth"
"Datebody-siteCondition-body-siteCondition.bodySiteServiceRequest-body-siteServiceRequest.bodySitebodysiteImagingStudy-bo"
"dysiteImagingStudy.series.bodySiteSpecimen-bodysiteSpecimen.collection.bodySitebusiness-statusTask-business-statusTask.b"
"usinessStatuscare-managerEpisodeOfCare-care-managerEpisodeOfCare.careManager.where(resolve() is Practitioner)care-teamCa"
"rePlan-care-teamCarePlan.careTeamClaim-care-teamClaim.careTeam.providerExplanationOfBenefit-care-teamExplanationOfBenefi"
"t.careTeam.providercategoryAdverseEvent-categoryAdverseEvent.categoryAllergyIntolerance-categoryAllergyIntolerance.categ"
"oryCarePlan-categoryCarePlan.categoryCareTeam-categoryCareTeam.categoryCommunication-categoryCommunication.categoryCommu"
"nicationRequest-categoryCommunicationRequest.categoryComposition-categoryComposition.categoryCondition-categoryCondition"
".categoryConsent-categoryConsent.categoryDeviceMetric-categoryDeviceMetric.categoryDiagnosticReport-categoryDiagnosticRe"
"port.categoryDocumentReference-categoryDocumentReference.categoryGoal-categoryGoal.categoryMedicationRequest-categoryMed"
"icationRequest.categoryMedicationStatement-categoryMedicationStatement.categoryMessageDefinition-categoryMessageDefiniti"
"on.categoryObservation-categoryObservation.categoryProcedure-categoryProcedure.categoryResearchStudy-categoryResearchStu"
"dy.categoryServiceRequest-categoryServiceRequest.categorySubstance-categorySubstance.categorySupplyRequest-categorySuppl"
"yRequest.categorycharacteristicGroup-characteristicGroup.characteristic.codeHealthcareService-characteristicHealthcareSe"
"rvice.characteristiccodevaluecharacteristic-valueGroup-characteristic-valueGroup.characteristicchromosomeMolecularSequen"
"ce-chromosomeMolecularSequence.referenceSeq.chromosome%resource.referenceSeq.chromosomestartendchromosome-variant-coordi"
"nateMolecularSequence-chromosome-variant-coordinateMolecularSequence.variantwindowStartwindowEndchromosome-window-coordi"
"nateMolecularSequence-chromosome-window-coordinateMolecularSequence.referenceSeqclaimExplanationOfBenefit-claimExplanati"
"onOfBenefit.claimclassEncounter-classEncounter.classclass-typeCoverage-class-typeCoverage.class.typeclass-valueCoverage-"
"class-valueCoverage.class.valueclassificationMedicationKnowledge-classificationMedicationKnowledge.medicineClassificatio"
"n.classificationclassification-typeMedicationKnowledge-classification-typeMedicationKnowledge.medicineClassification.typ"
"eclinical-statusAllergyIntolerance-clinical-statusAllergyIntolerance.clinicalStatusCondition-clinical-statusCondition.cl"
"inicalStatusBasic-codeBasic.codeChargeItem-codeChargeItem.codeCodeSystem-codeCodeSystem.concept.codeCompartmentDefinitio"
"n-codeCompartmentDefinition.codeDetectedIssue-codeDetectedIssue.codeGroup-codeGroup.codeMedicationKnowledge-codeMedicati"
"onKnowledge.codeMessageHeader-codeMessageHeader.response.codeOperationDefinition-codeOperationDefinition.codeQuestionnai"
"re-codeQuestionnaire.item.codeRequestGroup-codeRequestGroup.codeSearchParameter-codeSearchParameter.codeSubstance-codeSu"
"bstance.code | (Substance.ingredient.substance as CodeableConcept)SubstanceSpecification-codeSubstanceSpecification.code"
".codeTask-codeTask.codeValueSet-codeValueSet.expansion.contains.code | ValueSet.compose.include.concept.codeclinical-cod"
"eAllergyIntolerance.code | AllergyIntolerance.reaction.substance | Condition.code | (DeviceRequest.code as CodeableConce"
"pt) | DiagnosticReport.code | FamilyMemberHistory.condition.code | List.code | Medication.code | (MedicationAdministrati"
"on.medication as CodeableConcept) | (MedicationDispense.medication as CodeableConcept) | (MedicationRequest.medication a"
"s CodeableConcept) | (MedicationStatement.medication as CodeableConcept) | Observation.code | Procedure.code | ServiceRe"
"quest.codevalue.as(CodeableConcept)code-value-conceptObservation-code-value-conceptObservationvalue.as(DateTime) | value"
".as(Period)code-value-dateObservation-code-value-datevalue.as(Quantity)code-value-quantityObservation-code-value-quantit"
"yvalue.as(string)code-value-stringObservation-code-value-stringcollectedSpecimen-collectedSpecimen.collection.collectedc"
"ollectorSpecimen-collectorSpecimen.collection.collectorcombo-codeObservation-combo-codeObservation.code | Observation.co"
"mponent.codecombo-code-value-conceptObservation-combo-code-value-conceptObservation | Observation.componentcombo-code-va"
"lue-quantityObservation-combo-code-value-quantitycombo-data-absent-reasonObservation-combo-data-absent-reasonObservation"
".dataAbsentReason | Observation.component.dataAbsentReasoncombo-value-conceptObservation-combo-value-concept(Observation"
".value as CodeableConcept) | (Observation.component.value as CodeableConcept)combo-value-quantityObservation-combo-value"
"-quantity(Observation.value as Quantity) | (Observation.value as SampledData) | (Observation.component.value as Quantity"
") | (Observation.component.value as SampledData)communicationPractitioner-communicationPractitioner.communicationcompone"
"ntSearchParameter-componentSearchParameter.component.definitioncomponent-codeObservation-component-codeObservation.compo"
"nent.codecomponent-code-value-conceptObservation-component-code-value-conceptObservation.componentcomponent-code-value-q"
"uantityObservation-component-code-value-quantitycomponent-data-absent-reasonObservation-component-data-absent-reasonObse"
"rvation.component.dataAbsentReasoncomponent-value-conceptObservation-component-value-concept(Observation.component.value"
" as CodeableConcept)component-value-quantityObservation-component-value-quantity(Observation.component.value as Quantity"
") | (Observation.component.value as SampledData)composed-ofActivityDefinition-composed-ofActivityDefinition.relatedArtif"
"act.where(type='composed-of').resourceEventDefinition-composed-ofEventDefinition.relatedArtifact.where(type='composed-of"
"').resourceEvidence-composed-ofEvidence.relatedArtifact.where(type='composed-of').resourceEvidenceVariable-composed-ofEv"
"idenceVariable.relatedArtifact.where(type='composed-of').resourceLibrary-composed-ofLibrary.relatedArtifact.where(type='"
"composed-of').resourceMeasure-composed-ofMeasure.relatedArtifact.where(type='composed-of').resourcePlanDefinition-compos"
"ed-ofPlanDefinition.relatedArtifact.where(type='composed-of').resourceResearchDefinition-composed-ofResearchDefinition.r"
"elatedArtifact.where(type='composed-of').resourceResearchElementDefinition-composed-ofResearchElementDefinition.relatedA"
"rtifact.where(type='composed-of').resourcecompositionBundle-compositionBundle.entry[0].resourceconclusionDiagnosticRepor"
"t-conclusionDiagnosticReport.conclusionCodeconditionCarePlan-conditionCarePlan.addressesEpisodeOfCare-conditionEpisodeOf"
"Care.diagnosis.conditionRiskAssessment-conditionRiskAssessment.conditionconfidentialityComposition-confidentialityCompos"
"ition.confidentialityconnection-typeEndpoint-connection-typeEndpoint.connectionTypeconsentorConsent-consentorConsent.per"
"formercontactNamingSystem-contactNamingSystem.contact.nameSubscription-contactSubscription.contactcontainerSpecimen-cont"
"ainerSpecimen.container.typeSpecimenDefinition-containerSpecimenDefinition.typeTested.container.typecontainer-idSpecimen"
"-container-idSpecimen.container.identifiercontainer-identifierSubstance-container-identifierSubstance.instance.identifie"
"rcontent-modeCodeSystem-content-modeCodeSystem.contentcontent-typeLibrary-content-typeLibrary.content.contentTypecontent"
"typeDocumentReference-contenttypeDocumentReference.content.attachment.contentTypecontextActivityDefinition-context(Activ"
"ityDefinition.useContext.value as CodeableConcept)ChargeItem-contextChargeItem.contextChargeItemDefinition-context(Charg"
"eItemDefinition.useContext.value as CodeableConcept)Composition-contextComposition.event.codeEffectEvidenceSynthesis-con"
"text(EffectEvidenceSynthesis.useContext.value as CodeableConcept)EventDefinition-context(EventDefinition.useContext.valu"
"e as CodeableConcept)Evidence-context(Evidence.useContext.value as CodeableConcept)EvidenceVariable-context(EvidenceVari"
"able.useContext.value as CodeableConcept)ExampleScenario-context(ExampleScenario.useContext.value as CodeableConcept)Lib"
"rary-context(Library.useContext.value as CodeableConcept)Measure-context(Measure.useContext.value as CodeableConcept)Med"
"icationAdministration-contextMedicationAdministration.contextMedicationDispense-contextMedicationDispense.contextMedicat"
"ionStatement-contextMedicationStatement.contextPlanDefinition-context(PlanDefinition.useContext.value as CodeableConcept"
")Questionnaire-context(Questionnaire.useContext.value as CodeableConcept)ResearchDefinition-context(ResearchDefinition.u"
"seContext.value as CodeableConcept)ResearchElementDefinition-context(ResearchElementDefinition.useContext.value as Codea"
"bleConcept)RiskEvidenceSynthesis-context(RiskEvidenceSynthesis.useContext.value as CodeableConcept)TestScript-context(Te"
"stScript.useContext.value as CodeableConcept)conformance-context(CapabilityStatement.useContext.value as CodeableConcept"
") | (CodeSystem.useContext.value as CodeableConcept) | (CompartmentDefinition.useContext.value as CodeableConcept) | (Co"
"nceptMap.useContext.value as CodeableConcept) | (GraphDefinition.useContext.value as CodeableConcept) | (ImplementationG"
"uide.useContext.value as CodeableConcept) | (MessageDefinition.useContext.value as CodeableConcept) | (NamingSystem.useC"
"ontext.value as CodeableConcept) | (OperationDefinition.useContext.value as CodeableConcept) | (SearchParameter.useConte"
"xt.value as CodeableConcept) | (StructureDefinition.useContext.value as CodeableConcept) | (StructureMap.useContext.valu"
"e as CodeableConcept) | (TerminologyCapabilities.useContext.value as CodeableConcept) | (ValueSet.useContext.value as Co"
"deableConcept)context-quantityActivityDefinition-context-quantity(ActivityDefinition.useContext.value as Quantity) | (Ac"
"tivityDefinition.useContext.value as Range)ChargeItemDefinition-context-quantity(ChargeItemDefinition.useContext.value a"
"s Quantity) | (ChargeItemDefinition.useContext.value as Range)EffectEvidenceSynthesis-context-quantity(EffectEvidenceSyn"
"thesis.useContext.value as Quantity) | (EffectEvidenceSynthesis.useContext.value as Range)EventDefinition-context-quanti"
"ty(EventDefinition.useContext.value as Quantity) | (EventDefinition.useContext.value as Range)Evidence-context-quantity("
"Evidence.useContext.value as Quantity) | (Evidence.useContext.value as Range)EvidenceVariable-context-quantity(EvidenceV"
"ariable.useContext.value as Quantity) | (EvidenceVariable.useContext.value as Range)ExampleScenario-context-quantity(Exa"
"mpleScenario.useContext.value as Quantity) | (ExampleScenario.useContext.value as Range)Library-context-quantity(Library"
".useContext.value as Quantity) | (Library.useContext.value as Range)Measure-context-quantity(Measure.useContext.value as"
" Quantity) | (Measure.useContext.value as Range)PlanDefinition-context-quantity(PlanDefinition.useContext.value as Quant"
"ity) | (PlanDefinition.useContext.value as Range)Questionnaire-context-quantity(Questionnaire.useContext.value as Quanti"
"ty) | (Questionnaire.useContext.value as Range)ResearchDefinition-context-quantity(ResearchDefinition.useContext.value a"
"s Quantity) | (ResearchDefinition.useContext.value as Range)ResearchElementDefinition-context-quantity(ResearchElementDe"
"finition.useContext.value as Quantity) | (ResearchElementDefinition.useContext.value as Range)RiskEvidenceSynthesis-cont"
"ext-quantity(RiskEvidenceSynthesis.useContext.value as Quantity) | (RiskEvidenceSynthesis.useContext.value as Range)Test"
"Script-context-quantity(TestScript.useContext.value as Quantity) | (TestScript.useContext.value as Range)conformance-con"
"text-quantity(CapabilityStatement.useContext.value as Quantity) | (CapabilityStatement.useContext.value as Range) | (Cod"
"eSystem.useContext.value as Quantity) | (CodeSystem.useContext.value as Range) | (CompartmentDefinition.useContext.value"
" as Quantity) | (CompartmentDefinition.useContext.value as Range) | (ConceptMap.useContext.value as Quantity) | (Concept"
"Map.useContext.value as Range) | (GraphDefinition.useContext.value as Quantity) | (GraphDefinition.useContext.value as R"
"ange) | (ImplementationGuide.useContext.value as Quantity) | (ImplementationGuide.useContext.value as Range) | (MessageD"
"efinition.useContext.value as Quantity) | (MessageDefinition.useContext.value as Range) | (NamingSystem.useContext.value"
" as Quantity) | (NamingSystem.useContext.value as Range) | (OperationDefinition.useContext.value as Quantity) | (Operati"
"onDefinition.useContext.value as Range) | (SearchParameter.useContext.value as Quantity) | (SearchParameter.useContext.v"
"alue as Range) | (StructureDefinition.useContext.value as Quantity) | (StructureDefinition.useContext.value as Range) | "
"(StructureMap.useContext.value as Quantity) | (StructureMap.useContext.value as Range) | (TerminologyCapabilities.useCon"
"text.value as Quantity) | (TerminologyCapabilities.useContext.value as Range) | (ValueSet.useContext.value as Quantity) "
"| (ValueSet.useContext.value as Range)context-typeActivityDefinition-context-typeActivityDefinition.useContext.codeCharg"
"eItemDefinition-context-typeChargeItemDefinition.useContext.codeEffectEvidenceSynthesis-context-typeEffectEvidenceSynthe"
"sis.useContext.codeEventDefinition-context-typeEventDefinition.useContext.codeEvidence-context-typeEvidence.useContext.c"
"odeEvidenceVariable-context-typeEvidenceVariable.useContext.codeExampleScenario-context-typeExampleScenario.useContext.c"
"odeLibrary-context-typeLibrary.useContext.codeMeasure-context-typeMeasure.useContext.codePlanDefinition-context-typePlan"
"Definition.useContext.codeQuestionnaire-context-typeQuestionnaire.useContext.codeResearchDefinition-context-typeResearch"
"Definition.useContext.codeResearchElementDefinition-context-typeResearchElementDefinition.useContext.codeRiskEvidenceSyn"
"thesis-context-typeRiskEvidenceSynthesis.useContext.codeTestScript-context-typeTestScript.useContext.codeconformance-con"
"text-typeCapabilityStatement.useContext.code | CodeSystem.useContext.code | CompartmentDefinition.useContext.code | Conc"
"eptMap.useContext.code | GraphDefinition.useContext.code | ImplementationGuide.useContext.code | MessageDefinition.useCo"
"ntext.code | NamingSystem.useContext.code | OperationDefinition.useContext.code | SearchParameter.useContext.code | Stru"
"ctureDefinition.useContext.code | StructureMap.useContext.code | TerminologyCapabilities.useContext.code | ValueSet.useC"
"ontext.codevalue.as(Quantity) | value.as(Range)context-type-quantityActivityDefinition-context-type-quantityActivityDefi"
"nition.useContextChargeItemDefinition-context-type-quantityChargeItemDefinition.useContextEffectEvidenceSynthesis-contex"
"t-type-quantityEffectEvidenceSynthesis.useContextEventDefinition-context-type-quantityEventDefinition.useContextEvidence"
"-context-type-quantityEvidence.useContextEvidenceVariable-context-type-quantityEvidenceVariable.useContextExampleScenari"
"o-context-type-quantityExampleScenario.useContextLibrary-context-type-quantityLibrary.useContextMeasure-context-type-qua"
"ntityMeasure.useContextPlanDefinition-context-type-quantityPlanDefinition.useContextQuestionnaire-context-type-quantityQ"
"uestionnaire.useContextResearchDefinition-context-type-quantityResearchDefinition.useContextResearchElementDefinition-co"
"ntext-type-quantityResearchElementDefinition.useContextRiskEvidenceSynthesis-context-type-quantityRiskEvidenceSynthesis."
"useContextTestScript-context-type-quantityTestScript.useContextconformance-context-type-quantityCapabilityStatement.useC"
"ontext | CodeSystem.useContext | CompartmentDefinition.useContext | ConceptMap.useContext | GraphDefinition.useContext |"
" ImplementationGuide.useContext | MessageDefinition.useContext | NamingSystem.useContext | OperationDefinition.useContex"
"t | SearchParameter.useContext | StructureDefinition.useContext | StructureMap.useContext | TerminologyCapabilities.useC"
"ontext | ValueSet.useContextcontext-type-valueActivityDefinition-context-type-valueChargeItemDefinition-context-type-val"
"ueEffectEvidenceSynthesis-context-type-valueEventDefinition-context-type-valueEvidence-context-type-valueEvidenceVariabl"
"e-context-type-valueExampleScenario-context-type-valueLibrary-context-type-valueMeasure-context-type-valuePlanDefinition"
"-context-type-valueQuestionnaire-context-type-valueResearchDefinition-context-type-valueResearchElementDefinition-contex"
"t-type-valueRiskEvidenceSynthesis-context-type-valueTestScript-context-type-valueconformance-context-type-valuecountryMe"
"dicinalProductAuthorization-countryMedicinalProductAuthorization.countrycoverageExplanationOfBenefit-coverageExplanation"
"OfBenefit.insurance.coveragecoverage-areaHealthcareService-coverage-areaHealthcareService.coverageAreacreatedBasic-creat"
"edBasic.createdClaim-createdClaim.createdClaimResponse-createdClaimResponse.createdCoverageEligibilityRequest-createdCov"
"erageEligibilityRequest.createdCoverageEligibilityResponse-createdCoverageEligibilityResponse.createdDocumentManifest-cr"
"eatedDocumentManifest.createdExplanationOfBenefit-createdExplanationOfBenefit.createdMedia-createdMedia.createdPaymentNo"
"tice-createdPaymentNotice.createdPaymentReconciliation-createdPaymentReconciliation.createdcriteriaSubscription-criteria"
"Subscription.criteriacriticalityAllergyIntolerance-criticalityAllergyIntolerance.criticalitycustodianDocumentReference-c"
"ustodianDocumentReference.custodiandataConsent-dataConsent.provision.data.referencedata-absent-reasonObservation-data-ab"
"sent-reasonObservation.dataAbsentReasondateActivityDefinition-dateActivityDefinition.dateAdverseEvent-dateAdverseEvent.d"
"ateAppointment-dateAppointment.startAuditEvent-dateAuditEvent.recordedChargeItemDefinition-dateChargeItemDefinition.date"
"DocumentReference-dateDocumentReference.dateEffectEvidenceSynthesis-dateEffectEvidenceSynthesis.dateEventDefinition-date"
"EventDefinition.dateEvidence-dateEvidence.dateEvidenceVariable-dateEvidenceVariable.dateExampleScenario-dateExampleScena"
"rio.dateImmunizationEvaluation-dateImmunizationEvaluation.dateImmunizationRecommendation-dateImmunizationRecommendation."
"dateInvoice-dateInvoice.dateLibrary-dateLibrary.dateMeasure-dateMeasure.dateMeasureReport-dateMeasureReport.dateOrganiza"
"tionAffiliation-dateOrganizationAffiliation.periodPlanDefinition-datePlanDefinition.datePractitionerRole-datePractitione"
"rRole.periodQuestionnaire-dateQuestionnaire.dateResearchDefinition-dateResearchDefinition.dateResearchElementDefinition-"
"dateResearchElementDefinition.dateResearchStudy-dateResearchStudy.periodResearchSubject-dateResearchSubject.periodRiskEv"
"idenceSynthesis-dateRiskEvidenceSynthesis.dateSchedule-dateSchedule.planningHorizonTestScript-dateTestScript.dateclinica"
"l-dateAllergyIntolerance.recordedDate | CarePlan.period | CareTeam.period | ClinicalImpression.date | Composition.date |"
" Consent.dateTime | DiagnosticReport.effective | Encounter.period | EpisodeOfCare.period | FamilyMemberHistory.date | Fl"
"ag.period | Immunization.occurrence | List.date | Observation.effective | Procedure.performed | (RiskAssessment.occurren"
"ce as dateTime) | SupplyRequest.authoredOnconformance-dateCapabilityStatement.date | CodeSystem.date | CompartmentDefini"
"tion.date | ConceptMap.date | GraphDefinition.date | ImplementationGuide.date | MessageDefinition.date | NamingSystem.da"
"te | OperationDefinition.date | SearchParameter.date | StructureDefinition.date | StructureMap.date | TerminologyCapabil"
"ities.date | ValueSet.datemedications-dateMedicationRequest.dosageInstruction.timing.eventdatetimeNutritionOrder-datetim"
"eNutritionOrder.dateTimedatewrittenVisionPrescription-datewrittenVisionPrescription.dateWrittendeath-datePatient-death-d"
"ate(Patient.deceased as dateTime)deceasedPatient-deceasedPatient.deceased.exists() and Patient.deceased != falsedefiniti"
"onPlanDefinition-definitionPlanDefinition.action.definitionQuestionnaire-definitionQuestionnaire.item.definitiondependen"
"tCoverage-dependentCoverage.dependentdepends-onActivityDefinition-depends-onActivityDefinition.relatedArtifact.where(typ"
"e='depends-on').resource | ActivityDefinition.libraryEventDefinition-depends-onEventDefinition.relatedArtifact.where(typ"
"e='depends-on').resourceEvidence-depends-onEvidence.relatedArtifact.where(type='depends-on').resourceEvidenceVariable-de"
"pends-onEvidenceVariable.relatedArtifact.where(type='depends-on').resourceImplementationGuide-depends-onImplementationGu"
"ide.dependsOn.uriLibrary-depends-onLibrary.relatedArtifact.where(type='depends-on').resourceMeasure-depends-onMeasure.re"
"latedArtifact.where(type='depends-on').resource | Measure.libraryPlanDefinition-depends-onPlanDefinition.relatedArtifact"
".where(type='depends-on').resource | PlanDefinition.libraryResearchDefinition-depends-onResearchDefinition.relatedArtifa"
"ct.where(type='depends-on').resource | ResearchDefinition.libraryResearchElementDefinition-depends-onResearchElementDefi"
"nition.relatedArtifact.where(type='depends-on').resource | ResearchElementDefinition.librarydependsonConceptMap-dependso"
"nConceptMap.group.element.target.dependsOn.propertyderivationStructureDefinition-derivationStructureDefinition.derivatio"
"nderived-fromActivityDefinition-derived-fromActivityDefinition.relatedArtifact.where(type='derived-from').resourceEventD"
"efinition-derived-fromEventDefinition.relatedArtifact.where(type='derived-from').resourceEvidence-derived-fromEvidence.r"
"elatedArtifact.where(type='derived-from').resourceEvidenceVariable-derived-fromEvidenceVariable.relatedArtifact.where(ty"
"pe='derived-from').resourceLibrary-derived-fromLibrary.relatedArtifact.where(type='derived-from').resourceMeasure-derive"
"d-fromMeasure.relatedArtifact.where(type='derived-from').resourceObservation-derived-fromObservation.derivedFromPlanDefi"
"nition-derived-fromPlanDefinition.relatedArtifact.where(type='derived-from').resourceResearchDefinition-derived-fromRese"
"archDefinition.relatedArtifact.where(type='derived-from').resourceResearchElementDefinition-derived-fromResearchElementD"
"efinition.relatedArtifact.where(type='derived-from').resourceSearchParameter-derived-fromSearchParameter.derivedFromdesc"
"riptionActivityDefinition-descriptionActivityDefinition.descriptionChargeItemDefinition-descriptionChargeItemDefinition."
"descriptionDocumentManifest-descriptionDocumentManifest.descriptionDocumentReference-descriptionDocumentReference.descri"
"ptionEffectEvidenceSynthesis-descriptionEffectEvidenceSynthesis.descriptionEventDefinition-descriptionEventDefinition.de"
"scriptionEvidence-descriptionEvidence.descriptionEvidenceVariable-descriptionEvidenceVariable.descriptionLibrary-descrip"
"tionLibrary.descriptionMeasure-descriptionMeasure.descriptionPlanDefinition-descriptionPlanDefinition.descriptionQuestio"
"nnaire-descriptionQuestionnaire.descriptionResearchDefinition-descriptionResearchDefinition.descriptionResearchElementDe"
"finition-descriptionResearchElementDefinition.descriptionRiskEvidenceSynthesis-descriptionRiskEvidenceSynthesis.descript"
"ionTestScript-descriptionTestScript.descriptionconformance-descriptionCapabilityStatement.description | CodeSystem.descr"
"iption | CompartmentDefinition.description | ConceptMap.description | GraphDefinition.description | ImplementationGuide."
"description | MessageDefinition.description | NamingSystem.description | OperationDefinition.description | SearchParamet"
"er.description | StructureDefinition.description | StructureMap.description | TerminologyCapabilities.description | Valu"
"eSet.descriptiondestinationMedicationDispense-destinationMedicationDispense.destinationMessageHeader-destinationMessageH"
"eader.destination.namedestination-uriMessageHeader-destination-uriMessageHeader.destination.endpointdetail-udiClaim-deta"
"il-udiClaim.item.detail.udiExplanationOfBenefit-detail-udiExplanationOfBenefit.item.detail.udideviceDeviceRequest-device"
"(DeviceRequest.code as Reference)DeviceUseStatement-deviceDeviceUseStatement.deviceMedia-deviceMedia.deviceMedicationAdm"
"inistration-deviceMedicationAdministration.deviceObservation-deviceObservation.devicedevice-nameDevice-device-nameDevice"
".deviceName.name | Device.type.coding.display | Device.type.textdiagnosisEncounter-diagnosisEncounter.diagnosis.conditio"
"ndicom-classImagingStudy-dicom-classImagingStudy.series.instance.sopClassdispositionClaimResponse-dispositionClaimRespon"
"se.dispositionCoverageEligibilityResponse-dispositionCoverageEligibilityResponse.dispositionExplanationOfBenefit-disposi"
"tionExplanationOfBenefit.dispositionPaymentReconciliation-dispositionPaymentReconciliation.dispositiondomainContract-dom"
"ainContract.domaindose-statusImmunizationEvaluation-dose-statusImmunizationEvaluation.doseStatusdoseformMedicationKnowle"
"dge-doseformMedicationKnowledge.doseFormeffectiveActivityDefinition-effectiveActivityDefinition.effectivePeriodChargeIte"
"mDefinition-effectiveChargeItemDefinition.effectivePeriodEffectEvidenceSynthesis-effectiveEffectEvidenceSynthesis.effect"
"ivePeriodEventDefinition-effectiveEventDefinition.effectivePeriodEvidence-effectiveEvidence.effectivePeriodEvidenceVaria"
"ble-effectiveEvidenceVariable.effectivePeriodLibrary-effectiveLibrary.effectivePeriodMeasure-effectiveMeasure.effectiveP"
"eriodMedicationStatement-effectiveMedicationStatement.effectivePlanDefinition-effectivePlanDefinition.effectivePeriodQue"
"stionnaire-effectiveQuestionnaire.effectivePeriodResearchDefinition-effectiveResearchDefinition.effectivePeriodResearchE"
"lementDefinition-effectiveResearchElementDefinition.effectivePeriodRiskEvidenceSynthesis-effectiveRiskEvidenceSynthesis."
"effectivePeriodeffective-timeMedicationAdministration-effective-timeMedicationAdministration.effectiveemailOrganizationA"
"ffiliation-emailOrganizationAffiliation.telecom.where(system='email')individual-emailPatient.telecom.where(system='email"
"') | Person.telecom.where(system='email') | Practitioner.telecom.where(system='email') | PractitionerRole.telecom.where("
"system='email') | RelatedPerson.telecom.where(system='email')empty-reasonList-empty-reasonList.emptyReasonencounterCareP"
"lan-encounterCarePlan.encounterCareTeam-encounterCareTeam.encounterClaim-encounterClaim.item.encounterClinicalImpression"
"-encounterClinicalImpression.encounterCommunication-encounterCommunication.encounterCommunicationRequest-encounterCommun"
"icationRequest.encounterCondition-encounterCondition.encounterExplanationOfBenefit-encounterExplanationOfBenefit.item.en"
"counterImagingStudy-encounterImagingStudy.encounterMedia-encounterMedia.encounterQuestionnaireResponse-encounterQuestion"
"naireResponse.encounterRequestGroup-encounterRequestGroup.encounterTask-encounterTask.encounterclinical-encounterComposi"
"tion.encounter | DeviceRequest.encounter | DiagnosticReport.encounter | DocumentReference.context.encounter | Flag.encou"
"nter | List.encounter | NutritionOrder.encounter | Observation.encounter | Procedure.encounter | RiskAssessment.encounte"
"r | ServiceRequest.encounter | VisionPrescription.encountermedications-encounterMedicationRequest.encounterendpointHealt"
"hcareService-endpointHealthcareService.endpointImagingStudy-endpointImagingStudy.endpoint | ImagingStudy.series.endpoint"
"InsurancePlan-endpointInsurancePlan.endpointLocation-endpointLocation.endpointOrganization-endpointOrganization.endpoint"
"OrganizationAffiliation-endpointOrganizationAffiliation.endpointPractitionerRole-endpointPractitionerRole.endpointentere"
"d-dateChargeItem-entered-dateChargeItem.enteredDateentererChargeItem-entererChargeItem.entererClaim-entererClaim.enterer"
"CoverageEligibilityRequest-entererCoverageEligibilityRequest.entererExplanationOfBenefit-entererExplanationOfBenefit.ent"
"ererMessageHeader-entererMessageHeader.entererentityAuditEvent-entityAuditEvent.entity.whatProvenance-entityProvenance.e"
"ntity.whatentity-nameAuditEvent-entity-nameAuditEvent.entity.nameentity-roleAuditEvent-entity-roleAuditEvent.entity.role"
"entity-typeAuditEvent-entity-typeAuditEvent.entity.typeentryComposition-entryComposition.section.entryepisode-of-careEnc"
"ounter-episode-of-careEncounter.episodeOfCareevaluated-resourceMeasureReport-evaluated-resourceMeasureReport.evaluatedRe"
"sourceeventAdverseEvent-eventAdverseEvent.eventDocumentReference-eventDocumentReference.context.eventMessageDefinition-e"
"ventMessageDefinition.eventMessageHeader-eventMessageHeader.eventevent-dateDeviceRequest-event-date(DeviceRequest.occurr"
"ence as dateTime) | (DeviceRequest.occurrence as Period)evidenceCondition-evidenceCondition.evidence.codeevidence-detail"
"Condition-evidence-detailCondition.evidence.detailexcludeGroup-excludeGroup.characteristic.excludeexpansionValueSet-expa"
"nsionValueSet.expansion.identifierexperimentalImplementationGuide-experimentalImplementationGuide.experimentalStructureD"
"efinition-experimentalStructureDefinition.experimentalexpiration-dateMedication-expiration-dateMedication.batch.expirati"
"onDateexpirySubstance-expirySubstance.instance.expiryext-contextStructureDefinition-ext-contextStructureDefinition.conte"
"xt.typefacilityClaim-facilityClaim.facilityCoverageEligibilityRequest-facilityCoverageEligibilityRequest.facilityDocumen"
"tReference-facilityDocumentReference.context.facilityTypeExplanationOfBenefit-facilityExplanationOfBenefit.facilityfacto"
"r-overrideChargeItem-factor-overrideChargeItem.factorOverridefamilyindividual-familyPatient.name.family | Practitioner.n"
"ame.familyfhirversionCapabilityStatement-fhirversionCapabilityStatement.versionfinding-codeClinicalImpression-finding-co"
"deClinicalImpression.finding.itemCodeableConceptfinding-refClinicalImpression-finding-refClinicalImpression.finding.item"
"ReferencefocusMessageDefinition-focusMessageDefinition.focus.codeMessageHeader-focusMessageHeader.focusObservation-focus"
"Observation.focusResearchStudy-focusResearchStudy.focusTask-focusTask.focusformMedication-formMedication.formformatCapab"
"ilityStatement-formatCapabilityStatement.formatDocumentReference-formatDocumentReference.content.formatformulaNutritionO"
"rder-formulaNutritionOrder.enteralFormula.baseFormulaTypegenderindividual-genderPatient.gender | Person.gender | Practit"
"ioner.gender | RelatedPerson.gendergeneral-practitionerPatient-general-practitionerPatient.generalPractitionergivenindiv"
"idual-givenPatient.name.given | Practitioner.name.givenglobalImplementationGuide-globalImplementationGuide.global.profil"
"egoalCarePlan-goalCarePlan.goalgroup-identifierCommunicationRequest-group-identifierCommunicationRequest.groupIdentifier"
"DeviceRequest-group-identifierDeviceRequest.groupIdentifierRequestGroup-group-identifierRequestGroup.groupIdentifierTask"
"-group-identifierTask.groupIdentifierguideCapabilityStatement-guideCapabilityStatement.implementationGuidehas-memberObse"
"rvation-has-memberObservation.hasMemberholderMedicinalProductAuthorization-holderMedicinalProductAuthorization.holderid-"
"typeNamingSystem-id-typeNamingSystem.uniqueId.typeidentifiedDetectedIssue-identifiedDetectedIssue.identifiedidentifierAc"
"count-identifierAccount.identifierActivityDefinition-identifierActivityDefinition.identifierAppointment-identifierAppoin"
"tment.identifierAppointmentResponse-identifierAppointmentResponse.identifierBasic-identifierBasic.identifierBodyStructur"
"e-identifierBodyStructure.identifierBundle-identifierBundle.identifierChargeItem-identifierChargeItem.identifierChargeIt"
"emDefinition-identifierChargeItemDefinition.identifierClaim-identifierClaim.identifierClaimResponse-identifierClaimRespo"
"nse.identifierClinicalImpression-identifierClinicalImpression.identifierCommunication-identifierCommunication.identifier"
"CommunicationRequest-identifierCommunicationRequest.identifierContract-identifierContract.identifierCoverage-identifierC"
"overage.identifierCoverageEligibilityRequest-identifierCoverageEligibilityRequest.identifierCoverageEligibilityResponse-"
"identifierCoverageEligibilityResponse.identifierDevice-identifierDevice.identifierDeviceDefinition-identifierDeviceDefin"
"ition.identifierDeviceMetric-identifierDeviceMetric.identifierDeviceUseStatement-identifierDeviceUseStatement.identifier"
"EffectEvidenceSynthesis-identifierEffectEvidenceSynthesis.identifierEndpoint-identifierEndpoint.identifierEnrollmentRequ"
"est-identifierEnrollmentRequest.identifierEnrollmentResponse-identifierEnrollmentResponse.identifierEventDefinition-iden"
"tifierEventDefinition.identifierEvidence-identifierEvidence.identifierEvidenceVariable-identifierEvidenceVariable.identi"
"fierExampleScenario-identifierExampleScenario.identifierExplanationOfBenefit-identifierExplanationOfBenefit.identifierFl"
"ag-identifierFlag.identifierGroup-identifierGroup.identifierGuidanceResponse-identifierGuidanceResponse.identifierHealth"
"careService-identifierHealthcareService.identifierImmunizationEvaluation-identifierImmunizationEvaluation.identifierImmu"
"nizationRecommendation-identifierImmunizationRecommendation.identifierInsurancePlan-identifierInsurancePlan.identifierIn"
"voice-identifierInvoice.identifierLibrary-identifierLibrary.identifierLocation-identifierLocation.identifierMeasure-iden"
"tifierMeasure.identifierMeasureReport-identifierMeasureReport.identifierMedia-identifierMedia.identifierMedication-ident"
"ifierMedication.identifierMedicinalProduct-identifierMedicinalProduct.identifierMedicinalProductAuthorization-identifier"
"MedicinalProductAuthorization.identifierMedicinalProductPackaged-identifierMedicinalProductPackaged.identifierMedicinalP"
"roductPharmaceutical-identifierMedicinalProductPharmaceutical.identifierMolecularSequence-identifierMolecularSequence.id"
"entifierOrganization-identifierOrganization.identifierOrganizationAffiliation-identifierOrganizationAffiliation.identifi"
"erPatient-identifierPatient.identifierPaymentNotice-identifierPaymentNotice.identifierPaymentReconciliation-identifierPa"
"ymentReconciliation.identifierPerson-identifierPerson.identifierPlanDefinition-identifierPlanDefinition.identifierPracti"
"tioner-identifierPractitioner.identifierPractitionerRole-identifierPractitionerRole.identifierQuestionnaire-identifierQu"
"estionnaire.identifierQuestionnaireResponse-identifierQuestionnaireResponse.identifierRelatedPerson-identifierRelatedPer"
"son.identifierRequestGroup-identifierRequestGroup.identifierResearchDefinition-identifierResearchDefinition.identifierRe"
"searchElementDefinition-identifierResearchElementDefinition.identifierResearchStudy-identifierResearchStudy.identifierRe"
"searchSubject-identifierResearchSubject.identifierRiskEvidenceSynthesis-identifierRiskEvidenceSynthesis.identifierSchedu"
"le-identifierSchedule.identifierSlot-identifierSlot.identifierSpecimen-identifierSpecimen.identifierSpecimenDefinition-i"
"dentifierSpecimenDefinition.identifierSubstance-identifierSubstance.identifierTask-identifierTask.identifierTestReport-i"
"dentifierTestReport.identifierTestScript-identifierTestScript.identifierclinical-identifierAllergyIntolerance.identifier"
" | CarePlan.identifier | CareTeam.identifier | Composition.identifier | Condition.identifier | Consent.identifier | Dete"
"ctedIssue.identifier | DeviceRequest.identifier | DiagnosticReport.identifier | DocumentManifest.masterIdentifier | Docu"
"mentManifest.identifier | DocumentReference.masterIdentifier | DocumentReference.identifier | Encounter.identifier | Epi"
"sodeOfCare.identifier | FamilyMemberHistory.identifier | Goal.identifier | ImagingStudy.identifier | Immunization.identi"
"fier | List.identifier | MedicationAdministration.identifier | MedicationDispense.identifier | MedicationRequest.identif"
"ier | MedicationStatement.identifier | NutritionOrder.identifier | Observation.identifier | Procedure.identifier | RiskA"
"ssessment.identifier | ServiceRequest.identifier | SupplyDelivery.identifier | SupplyRequest.identifier | VisionPrescrip"
"tion.identifierconformance-identifierCodeSystem.identifier | ConceptMap.identifier | MessageDefinition.identifier | Stru"
"ctureDefinition.identifier | StructureMap.identifier | ValueSet.identifierimmunization-eventImmunizationEvaluation-immun"
"ization-eventImmunizationEvaluation.immunizationEventimplicatedDetectedIssue-implicatedDetectedIssue.implicatedincoming-"
"referralEpisodeOfCare-incoming-referralEpisodeOfCare.referralRequestindividualResearchSubject-individualResearchSubject."
"individualinformationImmunizationRecommendation-informationImmunizationRecommendation.recommendation.supportingPatientIn"
"formationingredientMedication-ingredient(Medication.ingredient.item as Reference)MedicationKnowledge-ingredient(Medicati"
"onKnowledge.ingredient.item as Reference)ingredient-codeMedication-ingredient-code(Medication.ingredient.item as Codeabl"
"eConcept)MedicationKnowledge-ingredient-code(MedicationKnowledge.ingredient.item as CodeableConcept)input-profileOperati"
"onDefinition-input-profileOperationDefinition.inputProfileinstanceImagingStudy-instanceImagingStudy.series.instance.uidO"
"perationDefinition-instanceOperationDefinition.instanceinstantiatesContract-instantiatesContract.instantiatesUriinstanti"
"ates-canonicalCarePlan-instantiates-canonicalCarePlan.instantiatesCanonicalCommunication-instantiates-canonicalCommunica"
"tion.instantiatesCanonicalDeviceRequest-instantiates-canonicalDeviceRequest.instantiatesCanonicalFamilyMemberHistory-ins"
"tantiates-canonicalFamilyMemberHistory.instantiatesCanonicalNutritionOrder-instantiates-canonicalNutritionOrder.instanti"
"atesCanonicalProcedure-instantiates-canonicalProcedure.instantiatesCanonicalRequestGroup-instantiates-canonicalRequestGr"
"oup.instantiatesCanonicalServiceRequest-instantiates-canonicalServiceRequest.instantiatesCanonicalinstantiates-uriCarePl"
"an-instantiates-uriCarePlan.instantiatesUriCommunication-instantiates-uriCommunication.instantiatesUriDeviceRequest-inst"
"antiates-uriDeviceRequest.instantiatesUriFamilyMemberHistory-instantiates-uriFamilyMemberHistory.instantiatesUriNutritio"
"nOrder-instantiates-uriNutritionOrder.instantiatesUriProcedure-instantiates-uriProcedure.instantiatesUriRequestGroup-ins"
"tantiates-uriRequestGroup.instantiatesUriServiceRequest-instantiates-uriServiceRequest.instantiatesUriinsuranceDeviceReq"
"uest-insuranceDeviceRequest.insuranceinsurerClaim-insurerClaim.insurerClaimResponse-insurerClaimResponse.insurerCoverage"
"EligibilityResponse-insurerCoverageEligibilityResponse.insurerintended-dispenserMedicationRequest-intended-dispenserMedi"
"cationRequest.dispenseRequest.performerintended-performerMedicationRequest-intended-performerMedicationRequest.performer"
"intended-performertypeMedicationRequest-intended-performertypeMedicationRequest.performerTypeintentCarePlan-intentCarePl"
"an.intentDeviceRequest-intentDeviceRequest.intentMedicationRequest-intentMedicationRequest.intentRequestGroup-intentRequ"
"estGroup.intentServiceRequest-intentServiceRequest.intentTask-intentTask.intentinterpreterImagingStudy-interpreterImagin"
"gStudy.interpreterinvestigationClinicalImpression-investigationClinicalImpression.investigation.itemissuedContract-issue"
"dContract.issuedDiagnosticReport-issuedDiagnosticReport.issuedTestReport-issuedTestReport.issuedissuerInvoice-issuerInvo"
"ice.issueritemDocumentManifest-itemDocumentManifest.contentLinkage-itemLinkage.item.resourceList-itemList.entry.itemitem"
"-udiClaim-item-udiClaim.item.udiExplanationOfBenefit-item-udiExplanationOfBenefit.item.udijurisdictionActivityDefinition"
"-jurisdictionActivityDefinition.jurisdictionChargeItemDefinition-jurisdictionChargeItemDefinition.jurisdictionEffectEvid"
"enceSynthesis-jurisdictionEffectEvidenceSynthesis.jurisdictionEventDefinition-jurisdictionEventDefinition.jurisdictionEv"
"idence-jurisdictionEvidence.jurisdictionEvidenceVariable-jurisdictionEvidenceVariable.jurisdictionExampleScenario-jurisd"
"ictionExampleScenario.jurisdictionLibrary-jurisdictionLibrary.jurisdictionMeasure-jurisdictionMeasure.jurisdictionPlanDe"
"finition-jurisdictionPlanDefinition.jurisdictionQuestionnaire-jurisdictionQuestionnaire.jurisdictionResearchDefinition-j"
"urisdictionResearchDefinition.jurisdictionResearchElementDefinition-jurisdictionResearchElementDefinition.jurisdictionRi"
"skEvidenceSynthesis-jurisdictionRiskEvidenceSynthesis.jurisdictionTestScript-jurisdictionTestScript.jurisdictionconforma"
"nce-jurisdictionCapabilityStatement.jurisdiction | CodeSystem.jurisdiction | ConceptMap.jurisdiction | GraphDefinition.j"
"urisdiction | ImplementationGuide.jurisdiction | MessageDefinition.jurisdiction | NamingSystem.jurisdiction | OperationD"
"efinition.jurisdiction | SearchParameter.jurisdiction | StructureDefinition.jurisdiction | StructureMap.jurisdiction | T"
"erminologyCapabilities.jurisdiction | ValueSet.jurisdictionkeywordResearchStudy-keywordResearchStudy.keywordStructureDef"
"inition-keywordStructureDefinition.keywordkindNamingSystem-kindNamingSystem.kindOperationDefinition-kindOperationDefinit"
"ion.kindStructureDefinition-kindStructureDefinition.kindlanguageCodeSystem-languageCodeSystem.concept.designation.langua"
"geDocumentReference-languageDocumentReference.content.attachment.languagePatient-languagePatient.communication.languagel"
"ast-dateAllergyIntolerance-last-dateAllergyIntolerance.lastOccurrencelengthEncounter-lengthEncounter.lengthlifecycle-sta"
"tusGoal-lifecycle-statusGoal.lifecycleStatuslinkPatient-linkPatient.link.otherPerson-linkPerson.link.targetlocationAdver"
"seEvent-locationAdverseEvent.locationAppointment-locationAppointment.participant.actor.where(resolve() is Location)Appoi"
"ntmentResponse-locationAppointmentResponse.actor.where(resolve() is Location)BodyStructure-locationBodyStructure.locatio"
"nDevice-locationDevice.locationDocumentReference-locationDocumentReference.content.attachment.urlEncounter-locationEncou"
"nter.location.locationHealthcareService-locationHealthcareService.locationImmunization-locationImmunization.locationOrga"
"nizationAffiliation-locationOrganizationAffiliation.locationPractitionerRole-locationPractitionerRole.locationProcedure-"
"locationProcedure.locationProvenance-locationProvenance.locationResearchStudy-locationResearchStudy.locationlocation-per"
"iodEncounter-location-periodEncounter.location.periodlot-numberImmunization-lot-numberImmunization.lotNumberMedication-l"
"ot-numberMedication.batch.lotNumbermanaging-entityGroup-managing-entityGroup.managingEntitymanifestationAllergyIntoleran"
"ce-manifestationAllergyIntolerance.reaction.manifestationmanufacturerDevice-manufacturerDevice.manufacturerImmunization-"
"manufacturerImmunization.manufacturerMedication-manufacturerMedication.manufacturerMedicationKnowledge-manufacturerMedic"
"ationKnowledge.manufacturermeasureMeasureReport-measureMeasureReport.measuremediaDiagnosticReport-mediaDiagnosticReport."
"media.linkmedicationmedications-medication(MedicationAdministration.medication as Reference) | (MedicationDispense.medic"
"ation as Reference) | (MedicationRequest.medication as Reference) | (MedicationStatement.medication as Reference)mediumC"
"ommunication-mediumCommunication.mediumCommunicationRequest-mediumCommunicationRequest.mediummemberGroup-memberGroup.mem"
"ber.entitymessageBundle-messagemethodObservation-methodObservation.methodRiskAssessment-methodRiskAssessment.methodmodal"
"ityImagingStudy-modalityImagingStudy.series.modalityMedia-modalityMedia.modalitymodeCapabilityStatement-modeCapabilitySt"
"atement.rest.modemodelDevice-modelDevice.modelNumbermodifiedTask-modifiedTask.lastModifiedmonitoring-program-nameMedicat"
"ionKnowledge-monitoring-program-nameMedicationKnowledge.monitoringProgram.namemonitoring-program-typeMedicationKnowledge"
"-monitoring-program-typeMedicationKnowledge.monitoringProgram.typemonographMedicationKnowledge-monographMedicationKnowle"
"dge.monograph.sourcemonograph-typeMedicationKnowledge-monograph-typeMedicationKnowledge.monograph.typemorphologyBodyStru"
"cture-morphologyBodyStructure.morphologynameAccount-nameAccount.nameActivityDefinition-nameActivityDefinition.nameEffect"
"EvidenceSynthesis-nameEffectEvidenceSynthesis.nameEndpoint-nameEndpoint.nameEventDefinition-nameEventDefinition.nameEvid"
"ence-nameEvidence.nameEvidenceVariable-nameEvidenceVariable.nameExampleScenario-nameExampleScenario.nameHealthcareServic"
"e-nameHealthcareService.nameInsurancePlan-namename | aliasLibrary-nameLibrary.nameLocation-nameLocation.name | Location."
"aliasMeasure-nameMeasure.nameMedicinalProduct-nameMedicinalProduct.name.productNameOrganization-nameOrganization.name | "
"Organization.aliasPatient-namePatient.namePerson-namePerson.namePlanDefinition-namePlanDefinition.namePractitioner-nameP"
"ractitioner.nameQuestionnaire-nameQuestionnaire.nameRelatedPerson-nameRelatedPerson.nameResearchDefinition-nameResearchD"
"efinition.nameResearchElementDefinition-nameResearchElementDefinition.nameRiskEvidenceSynthesis-nameRiskEvidenceSynthesi"
"s.nameTestScript-nameTestScript.nameconformance-nameCapabilityStatement.name | CodeSystem.name | CompartmentDefinition.n"
"ame | ConceptMap.name | GraphDefinition.name | ImplementationGuide.name | MessageDefinition.name | NamingSystem.name | O"
"perationDefinition.name | SearchParameter.name | StructureDefinition.name | StructureMap.name | TerminologyCapabilities."
"name | ValueSet.namename-languageMedicinalProduct-name-languageMedicinalProduct.name.countryLanguage.languagenearLocatio"
"n-nearLocation.positionnetworkOrganizationAffiliation-networkOrganizationAffiliation.networknotesList-notesList.note.tex"
"toccurrenceChargeItem-occurrenceChargeItem.occurrenceCommunicationRequest-occurrence(CommunicationRequest.occurrence as "
"dateTime)ServiceRequest-occurrenceServiceRequest.occurrenceonsetAllergyIntolerance-onsetAllergyIntolerance.reaction.onse"
"tonset-ageCondition-onset-ageCondition.onset.as(Age) | Condition.onset.as(Range)onset-dateCondition-onset-dateCondition."
"onset.as(dateTime) | Condition.onset.as(Period)onset-infoCondition-onset-infoCondition.onset.as(string)operational-statu"
"sLocation-operational-statusLocation.operationalStatusoperatorMedia-operatorMedia.operatororaldietNutritionOrder-oraldie"
"tNutritionOrder.oralDiet.typeorganizationConsent-organizationConsent.organizationDevice-organizationDevice.ownerEndpoint"
"-organizationEndpoint.managingOrganizationEpisodeOfCare-organizationEpisodeOfCare.managingOrganizationHealthcareService-"
"organizationHealthcareService.providedByLocation-organizationLocation.managingOrganizationPatient-organizationPatient.ma"
"nagingOrganizationPerson-organizationPerson.managingOrganizationPractitionerRole-organizationPractitionerRole.organizati"
"onotherConceptMap-otherConceptMap.group.unmapped.urloutcomeAuditEvent-outcomeAuditEvent.outcomeClaimResponse-outcomeClai"
"mResponse.outcomeCoverageEligibilityResponse-outcomeCoverageEligibilityResponse.outcomePaymentReconciliation-outcomePaym"
"entReconciliation.outcomeoutput-profileOperationDefinition-output-profileOperationDefinition.outputProfileowned-byInsura"
"ncePlan-owned-byInsurancePlan.ownedByownerAccount-ownerAccount.ownerTask-ownerTask.ownerparentDeviceDefinition-parentDev"
"iceDefinition.parentDeviceDeviceMetric-parentDeviceMetric.parentMessageDefinition-parentMessageDefinition.parentSpecimen"
"-parentSpecimen.parentpart-ofCarePlan-part-ofCarePlan.partOfCommunication-part-ofCommunication.partOfEncounter-part-ofEn"
"counter.partOfMedicationStatement-part-ofMedicationStatement.partOfObservation-part-ofObservation.partOfProcedure-part-o"
"fProcedure.partOfQuestionnaireResponse-part-ofQuestionnaireResponse.partOfTask-part-ofTask.partOfpart-statusAppointment-"
"part-statusAppointment.participant.statusAppointmentResponse-part-statusAppointmentResponse.participantStatusparticipant"
"CareTeam-participantCareTeam.participant.memberEncounter-participantEncounter.participant.individualInvoice-participantI"
"nvoice.participant.actorRequestGroup-participantRequestGroup.action.participantTestReport-participantTestReport.particip"
"ant.uriparticipant-roleInvoice-participant-roleInvoice.participant.roleparticipant-typeEncounter-participant-typeEncount"
"er.participant.typeparticipating-organizationOrganizationAffiliation-participating-organizationOrganizationAffiliation.p"
"articipatingOrganizationpartofLocation-partofLocation.partOfOrganization-partofOrganization.partOfResearchStudy-partofRe"
"searchStudy.partOfpathStructureDefinition-pathStructureDefinition.snapshot.element.path | StructureDefinition.differenti"
"al.element.pathpatientAccount-patientAccount.subject.where(resolve() is Patient)Appointment-patientAppointment.participa"
"nt.actor.where(resolve() is Patient)AppointmentResponse-patientAppointmentResponse.actor.where(resolve() is Patient)Audi"
"tEvent-patientAuditEvent.agent.who.where(resolve() is Patient) | AuditEvent.entity.what.where(resolve() is Patient)Basic"
"-patientBasic.subject.where(resolve() is Patient)BodyStructure-patientBodyStructure.patientChargeItem-patientChargeItem."
"subject.where(resolve() is Patient)Claim-patientClaim.patientClaimResponse-patientClaimResponse.patientCommunication-pat"
"ientCommunication.subject.where(resolve() is Patient)CommunicationRequest-patientCommunicationRequest.subject.where(reso"
"lve() is Patient)Contract-patientContract.subject.where(resolve() is Patient)Coverage-patientCoverageEligibilityRequest-"
"patientCoverageEligibilityRequest.patientCoverageEligibilityResponse-patientCoverageEligibilityResponse.patientDevice-pa"
"tientDevice.patientEnrollmentRequest-patientEnrollmentRequest.candidateExplanationOfBenefit-patientExplanationOfBenefit."
"patientGuidanceResponse-patientGuidanceResponse.subject.where(resolve() is Patient)ImmunizationEvaluation-patientImmuniz"
"ationEvaluation.patientImmunizationRecommendation-patientImmunizationRecommendation.patientInvoice-patientInvoice.subjec"
"t.where(resolve() is Patient)MeasureReport-patientMeasureReport.subject.where(resolve() is Patient)Media-patientMedia.su"
"bject.where(resolve() is Patient)MolecularSequence-patientMolecularSequence.patientPerson-patientPerson.link.target.wher"
"e(resolve() is Patient)Provenance-patientProvenance.target.where(resolve() is Patient)QuestionnaireResponse-patientQuest"
"ionnaireResponse.subject.where(resolve() is Patient)RelatedPerson-patientRelatedPerson.patientRequestGroup-patientReques"
"tGroup.subject.where(resolve() is Patient)ResearchSubject-patientSpecimen-patientSpecimen.subject.where(resolve() is Pat"
"ient)Task-patientTask.for.where(resolve() is Patient)clinical-patientAllergyIntolerance.patient | CarePlan.subject.where"
"(resolve() is Patient) | CareTeam.subject.where(resolve() is Patient) | ClinicalImpression.subject.where(resolve() is Pa"
"tient) | Composition.subject.where(resolve() is Patient) | Condition.subject.where(resolve() is Patient) | Consent.patie"
"nt | DetectedIssue.patient | DeviceRequest.subject.where(resolve() is Patient) | DeviceUseStatement.subject | Diagnostic"
"Report.subject.where(resolve() is Patient) | DocumentManifest.subject.where(resolve() is Patient) | DocumentReference.su"
"bject.where(resolve() is Patient) | Encounter.subject.where(resolve() is Patient) | EpisodeOfCare.patient | FamilyMember"
"History.patient | Flag.subject.where(resolve() is Patient) | Goal.subject.where(resolve() is Patient) | ImagingStudy.sub"
"ject.where(resolve() is Patient) | Immunization.patient | List.subject.where(resolve() is Patient) | MedicationAdministr"
"ation.subject.where(resolve() is Patient) | MedicationDispense.subject.where(resolve() is Patient) | MedicationRequest.s"
"ubject.where(resolve() is Patient) | MedicationStatement.subject.where(resolve() is Patient) | NutritionOrder.patient | "
"Observation.subject.where(resolve() is Patient) | Procedure.subject.where(resolve() is Patient) | RiskAssessment.subject"
".where(resolve() is Patient) | ServiceRequest.subject.where(resolve() is Patient) | SupplyDelivery.patient | VisionPresc"
"ription.patientpayeeClaim-payeeClaim.payee.partyExplanationOfBenefit-payeeExplanationOfBenefit.payee.partypayloadSubscri"
"ption-payloadSubscription.channel.payloadpayload-typeEndpoint-payload-typeEndpoint.payloadTypepayment-dateClaimResponse-"
"payment-dateClaimResponse.payment.datepayment-issuerPaymentReconciliation-payment-issuerPaymentReconciliation.paymentIss"
"uerpayment-statusPaymentNotice-payment-statusPaymentNotice.paymentStatuspayorCoverage-payorCoverage.payorperformerCarePl"
"an-performerCarePlan.activity.detail.performerDeviceRequest-performerDeviceRequest.performerDiagnosticReport-performerDi"
"agnosticReport.performerImagingStudy-performerImagingStudy.series.performer.actorImmunization-performerImmunization.perf"
"ormer.actorMedicationAdministration-performerMedicationAdministration.performer.actorMedicationDispense-performerMedicat"
"ionDispense.performer.actorObservation-performerObservation.performerProcedure-performerProcedure.performer.actorRiskAss"
"essment-performerRiskAssessment.performerServiceRequest-performerServiceRequest.performerTask-performerTask.performerTyp"
"eperformer-actorChargeItem-performer-actorChargeItem.performer.actorperformer-functionChargeItem-performer-functionCharg"
"eItem.performer.functionperformer-typeServiceRequest-performer-typeServiceRequest.performerTypeperforming-organizationCh"
"argeItem-performing-organizationChargeItem.performingOrganizationperiodAccount-periodAccount.servicePeriodComposition-pe"
"riodComposition.event.periodConsent-periodConsent.provision.periodDocumentReference-periodDocumentReference.context.peri"
"odMeasureReport-periodMeasureReport.periodNamingSystem-periodNamingSystem.uniqueId.periodTask-periodTask.executionPeriod"
"phoneOrganizationAffiliation-phoneOrganizationAffiliation.telecom.where(system='phone')individual-phonePatient.telecom.w"
"here(system='phone') | Person.telecom.where(system='phone') | Practitioner.telecom.where(system='phone') | PractitionerR"
"ole.telecom.where(system='phone') | RelatedPerson.telecom.where(system='phone')phoneticInsurancePlan-phoneticInsurancePl"
"an.nameOrganization-phoneticOrganization.nameindividual-phoneticPatient.name | Person.name | Practitioner.name | Related"
"Person.namepolicyAuditEvent-policyAuditEvent.agent.policypolicy-holderCoverage-policy-holderCoverage.policyHolderpractit"
"ionerAppointment-practitionerAppointment.participant.actor.where(resolve() is Practitioner)AppointmentResponse-practitio"
"nerAppointmentResponse.actor.where(resolve() is Practitioner)Encounter-practitionerEncounter.participant.individual.wher"
"e(resolve() is Practitioner)Person-practitionerPerson.link.target.where(resolve() is Practitioner)PractitionerRole-pract"
"itionerPractitionerRole.practitionerpredecessorActivityDefinition-predecessorActivityDefinition.relatedArtifact.where(ty"
"pe='predecessor').resourceEventDefinition-predecessorEventDefinition.relatedArtifact.where(type='predecessor').resourceE"
"vidence-predecessorEvidence.relatedArtifact.where(type='predecessor').resourceEvidenceVariable-predecessorEvidenceVariab"
"le.relatedArtifact.where(type='predecessor').resourceLibrary-predecessorLibrary.relatedArtifact.where(type='predecessor'"
").resourceMeasure-predecessorMeasure.relatedArtifact.where(type='predecessor').resourcePlanDefinition-predecessorPlanDef"
"inition.relatedArtifact.where(type='predecessor').resourceResearchDefinition-predecessorResearchDefinition.relatedArtifa"
"ct.where(type='predecessor').resourceResearchElementDefinition-predecessorResearchElementDefinition.relatedArtifact.wher"
"e(type='predecessor').resourceprescriberVisionPrescription-prescriberVisionPrescription.prescriberprescriptionmedication"
"s-prescriptionMedicationDispense.authorizingPrescriptionpreviousClinicalImpression-previousClinicalImpression.previouspr"
"ice-overrideChargeItem-price-overrideChargeItem.priceOverrideprimary-organizationOrganizationAffiliation-primary-organiz"
"ationOrganizationAffiliation.organizationprincipalinvestigatorResearchStudy-principalinvestigatorResearchStudy.principal"
"Investigatorprior-requestDeviceRequest-prior-requestDeviceRequest.priorRequestpriorityClaim-priorityClaim.priorityCommun"
"icationRequest-priorityCommunicationRequest.priorityMedicationRequest-priorityMedicationRequest.priorityRequestGroup-pri"
"orityRequestGroup.priorityServiceRequest-priorityServiceRequest.priorityTask-priorityTask.priorityprobabilityRiskAssessm"
"ent-probabilityRiskAssessment.prediction.probabilityproblemClinicalImpression-problemClinicalImpression.problemprocedure"
"-udiClaim-procedure-udiClaim.procedure.udiExplanationOfBenefit-procedure-udiExplanationOfBenefit.procedure.udiproductCon"
"ceptMap-productConceptMap.group.element.target.product.propertyprogramHealthcareService-programHealthcareService.program"
"protocolResearchStudy-protocolResearchStudy.protocolproviderClaim-providerClaim.providerCoverageEligibilityRequest-provi"
"derCoverageEligibilityRequest.providerExplanationOfBenefit-providerExplanationOfBenefit.providerNutritionOrder-providerN"
"utritionOrder.ordererPaymentNotice-providerPaymentNotice.providerpublisherActivityDefinition-publisherActivityDefinition"
".publisherChargeItemDefinition-publisherChargeItemDefinition.publisherEffectEvidenceSynthesis-publisherEffectEvidenceSyn"
"thesis.publisherEventDefinition-publisherEventDefinition.publisherEvidence-publisherEvidence.publisherEvidenceVariable-p"
"ublisherEvidenceVariable.publisherExampleScenario-publisherExampleScenario.publisherLibrary-publisherLibrary.publisherMe"
"asure-publisherMeasure.publisherPlanDefinition-publisherPlanDefinition.publisherQuestionnaire-publisherQuestionnaire.pub"
"lisherResearchDefinition-publisherResearchDefinition.publisherResearchElementDefinition-publisherResearchElementDefiniti"
"on.publisherRiskEvidenceSynthesis-publisherRiskEvidenceSynthesis.publisherTestScript-publisherTestScript.publisherconfor"
"mance-publisherCapabilityStatement.publisher | CodeSystem.publisher | CompartmentDefinition.publisher | ConceptMap.publi"
"sher | GraphDefinition.publisher | ImplementationGuide.publisher | MessageDefinition.publisher | NamingSystem.publisher "
"| OperationDefinition.publisher | SearchParameter.publisher | StructureDefinition.publisher | StructureMap.publisher | T"
"erminologyCapabilities.publisher | ValueSet.publisherpurposeConsent-purposeConsent.provision.purposequantityChargeItem-q"
"uantityChargeItem.quantitySubstance-quantitySubstance.instance.quantityquestionnaireQuestionnaireResponse-questionnaireQ"
"uestionnaireResponse.questionnairereactionImmunization-reactionImmunization.reaction.detailreaction-dateImmunization-rea"
"ction-dateImmunization.reaction.datereasonImagingStudy-reasonImagingStudy.reasonCodereason-codeAppointment-reason-codeAp"
"pointment.reasonCodeEncounter-reason-codeEncounter.reasonCodeImmunization-reason-codeImmunization.reasonCodeProcedure-re"
"ason-codeProcedure.reasonCodereason-givenMedicationAdministration-reason-givenMedicationAdministration.reasonCodereason-"
"not-givenMedicationAdministration-reason-not-givenMedicationAdministration.statusReasonreason-referenceAppointment-reaso"
"n-referenceAppointment.reasonReferenceEncounter-reason-referenceEncounter.reasonReferenceImmunization-reason-referenceIm"
"munization.reasonReferenceProcedure-reason-referenceProcedure.reasonReferencereceivedCommunication-receivedCommunication"
".receivedreceiverMedicationDispense-receiverMedicationDispense.receiverMessageHeader-receiverMessageHeader.destination.r"
"eceiverSupplyDelivery-receiverSupplyDelivery.receiverrecipientCommunication-recipientCommunication.recipientCommunicatio"
"nRequest-recipientCommunicationRequest.recipientDocumentManifest-recipientDocumentManifest.recipientInvoice-recipientInv"
"oice.recipientrecordedProvenance-recordedProvenance.recordedrecorded-dateCondition-recorded-dateCondition.recordedDatere"
"corderAdverseEvent-recorderAdverseEvent.recorderAllergyIntolerance-recorderAllergyIntolerance.recorderreferenceValueSet-"
"referenceValueSet.compose.include.systemreferenceseqidMolecularSequence-referenceseqidMolecularSequence.referenceSeq.ref"
"erenceSeqId%resource.referenceSeq.referenceSeqIdreferenceseqid-variant-coordinateMolecularSequence-referenceseqid-varian"
"t-coordinatereferenceSeqIdreferenceseqid-window-coordinateMolecularSequence-referenceseqid-window-coordinatereferrerImag"
"ingStudy-referrerImagingStudy.referrerrelatedDocumentReference-relatedDocumentReference.context.relatedrelated-idComposi"
"tion-related-id(Composition.relatesTo.target as Identifier)DocumentManifest-related-idDocumentManifest.related.identifie"
"rrelated-refComposition-related-ref(Composition.relatesTo.target as Reference)DocumentManifest-related-refDocumentManife"
"st.related.refrelatedpersonPerson-relatedpersonPerson.link.target.where(resolve() is RelatedPerson)relatestoDocumentRefe"
"rence-relatestoDocumentReference.relatesTo.targetrelationDocumentReference-relationDocumentReference.relatesTo.codetarge"
"trelationshipDocumentReference-relationshipDocumentReference.relatesToFamilyMemberHistory-relationshipFamilyMemberHistor"
"y.relationshipRelatedPerson-relationshipRelatedPerson.relationshipreplacesCarePlan-replacesCarePlan.replacesCommunicatio"
"nRequest-replacesCommunicationRequest.replacesServiceRequest-replacesServiceRequest.replacesreporterMeasureReport-report"
"erMeasureReport.reporterrequestClaimResponse-requestClaimResponse.requestCoverageEligibilityResponse-requestCoverageElig"
"ibilityResponse.requestEnrollmentResponse-requestEnrollmentResponse.requestGuidanceResponse-requestGuidanceResponse.requ"
"estIdentifierMedicationAdministration-requestMedicationAdministration.requestPaymentNotice-requestPaymentNotice.requestP"
"aymentReconciliation-requestPaymentReconciliation.requestrequesterCommunicationRequest-requesterCommunicationRequest.req"
"uesterDeviceRequest-requesterDeviceRequest.requesterMedicationRequest-requesterMedicationRequest.requesterServiceRequest"
"-requesterServiceRequest.requesterSupplyRequest-requesterSupplyRequest.requesterTask-requesterTask.requesterrequesting-o"
"rganizationChargeItem-requesting-organizationChargeItem.requestingOrganizationrequestorClaimResponse-requestorClaimRespo"
"nse.requestorCoverageEligibilityResponse-requestorCoverageEligibilityResponse.requestorPaymentReconciliation-requestorPa"
"ymentReconciliation.requestorrequisitionServiceRequest-requisitionServiceRequest.requisitionresourceCapabilityStatement-"
"resourceCapabilityStatement.rest.resource.typeCompartmentDefinition-resourceCompartmentDefinition.resource.codeImplement"
"ationGuide-resourceImplementationGuide.definition.resource.referenceresource-profileCapabilityStatement-resource-profile"
"CapabilityStatement.rest.resource.profileresponsePaymentNotice-responsePaymentNotice.responseresponse-idMessageHeader-re"
"sponse-idMessageHeader.response.identifierresponsibleMessageHeader-responsibleMessageHeader.responsibleNamingSystem-resp"
"onsibleNamingSystem.responsibleresponsiblepartyMedicationDispense-responsiblepartyMedicationDispense.substitution.respon"
"siblePartyresultDiagnosticReport-resultDiagnosticReport.resultTestReport-resultTestReport.resultresultingconditionAdvers"
"eEvent-resultingconditionAdverseEvent.resultingConditionresults-interpreterDiagnosticReport-results-interpreterDiagnosti"
"cReport.resultsInterpreterriskRiskAssessment-riskRiskAssessment.prediction.qualitativeRiskroleOrganizationAffiliation-ro"
"leOrganizationAffiliation.codePractitionerRole-rolePractitionerRole.coderouteAllergyIntolerance-routeAllergyIntolerance."
"reaction.exposureRouteMedicinalProductPharmaceutical-routeMedicinalProductPharmaceutical.routeOfAdministration.codesched"
"uleSlot-scheduleSlot.schedulescopeConsent-scopeConsent.scopesectionComposition-sectionComposition.section.codesecurity-l"
"abelConsent-security-labelConsent.provision.securityLabelDocumentReference-security-labelDocumentReference.securityLabel"
"security-serviceCapabilityStatement-security-serviceCapabilityStatement.rest.security.servicesenderCommunication-senderC"
"ommunication.senderCommunicationRequest-senderCommunicationRequest.senderMessageHeader-senderMessageHeader.sendersentCom"
"munication-sentCommunication.sentseriesImagingStudy-seriesImagingStudy.series.uidImmunization-seriesImmunization.protoco"
"lApplied.seriesseriousnessAdverseEvent-seriousnessAdverseEvent.seriousnessserviceChargeItem-serviceChargeItem.serviceOrg"
"anizationAffiliation-serviceOrganizationAffiliation.healthcareServicePractitionerRole-servicePractitionerRole.healthcare"
"Serviceservice-categoryAppointment-service-categoryAppointment.serviceCategoryHealthcareService-service-categoryHealthca"
"reService.categorySchedule-service-categorySchedule.serviceCategorySlot-service-categorySlot.serviceCategoryservice-prov"
"iderEncounter-service-providerEncounter.serviceProviderservice-typeAppointment-service-typeAppointment.serviceTypeHealth"
"careService-service-typeHealthcareService.typeSchedule-service-typeSchedule.serviceTypeSlot-service-typeSlot.serviceType"
"settingDocumentReference-settingDocumentReference.context.practiceSettingseverityAdverseEvent-severityAdverseEvent.sever"
"ityAllergyIntolerance-severityAllergyIntolerance.reaction.severityCondition-severityCondition.severitysexFamilyMemberHis"
"tory-sexFamilyMemberHistory.sexsignature-typeProvenance-signature-typeProvenance.signature.typesignerContract-signerCont"
"ract.signer.partysiteAuditEvent-siteAuditEvent.source.siteMedia-siteMedia.bodySiteResearchStudy-siteResearchStudy.sitesl"
"otAppointment-slotAppointment.slotsoftwareCapabilityStatement-softwareCapabilityStatement.software.namesourceAuditEvent-"
"sourceAuditEvent.source.observerConceptMap-source(ConceptMap.source as canonical)DeviceMetric-sourceDeviceMetric.sourceD"
"ocumentManifest-sourceDocumentManifest.sourceLinkage-sourceList-sourceList.sourceMedicationStatement-sourceMedicationSta"
"tement.informationSourceMessageHeader-sourceMessageHeader.source.nameQuestionnaireResponse-sourceQuestionnaireResponse.s"
"ourcesource-codeConceptMap-source-codeConceptMap.group.element.codesource-costMedicationKnowledge-source-costMedicationK"
"nowledge.cost.sourcesource-referenceConsent-source-referenceConsent.sourcesource-systemConceptMap-source-systemConceptMa"
"p.group.sourcesource-uriConceptMap-source-uri(ConceptMap.source as uri)MessageHeader-source-uriMessageHeader.source.endp"
"ointspecial-arrangementEncounter-special-arrangementEncounter.hospitalization.specialArrangementspecialtyAppointment-spe"
"cialtyAppointment.specialtyHealthcareService-specialtyHealthcareService.specialtyOrganizationAffiliation-specialtyOrgani"
"zationAffiliation.specialtyPractitionerRole-specialtyPractitionerRole.specialtySchedule-specialtySchedule.specialtySlot-"
"specialtySlot.specialtyspecimenDiagnosticReport-specimenDiagnosticReport.specimenObservation-specimenObservation.specime"
"nServiceRequest-specimenServiceRequest.specimensponsorResearchStudy-sponsorResearchStudy.sponsorstageCondition-stageCond"
"ition.stage.summaryGraphDefinition-startGraphDefinition.startSlot-startSlot.startstart-dateGoal-start-date(Goal.start as"
" date)startedImagingStudy-startedImagingStudy.startedstatusAccount-statusAccount.statusActivityDefinition-statusActivity"
"Definition.statusAppointment-statusAppointment.statusCarePlan-statusCarePlan.statusCareTeam-statusCareTeam.statusChargeI"
"temDefinition-statusChargeItemDefinition.statusClaim-statusClaim.statusClaimResponse-statusClaimResponse.statusClinicalI"
"mpression-statusClinicalImpression.statusCommunication-statusCommunication.statusCommunicationRequest-statusCommunicatio"
"nRequest.statusComposition-statusComposition.statusConsent-statusConsent.statusContract-statusContract.statusCoverage-st"
"atusCoverage.statusCoverageEligibilityRequest-statusCoverageEligibilityRequest.statusCoverageEligibilityResponse-statusC"
"overageEligibilityResponse.statusDevice-statusDevice.statusDeviceRequest-statusDeviceRequest.statusDiagnosticReport-stat"
"usDiagnosticReport.statusDocumentManifest-statusDocumentManifest.statusDocumentReference-statusDocumentReference.statusE"
"ffectEvidenceSynthesis-statusEffectEvidenceSynthesis.statusEncounter-statusEncounter.statusEndpoint-statusEndpoint.statu"
"sEnrollmentRequest-statusEnrollmentRequest.statusEnrollmentResponse-statusEnrollmentResponse.statusEpisodeOfCare-statusE"
"pisodeOfCare.statusEventDefinition-statusEventDefinition.statusEvidence-statusEvidence.statusEvidenceVariable-statusEvid"
"enceVariable.statusExampleScenario-statusExampleScenario.statusExplanationOfBenefit-statusExplanationOfBenefit.statusFam"
"ilyMemberHistory-statusFamilyMemberHistory.statusImagingStudy-statusImagingStudy.statusImmunization-statusImmunization.s"
"tatusImmunizationEvaluation-statusImmunizationEvaluation.statusImmunizationRecommendation-statusImmunizationRecommendati"
"on.recommendation.forecastStatusInsurancePlan-statusInsurancePlan.statusInvoice-statusInvoice.statusLibrary-statusLibrar"
"y.statusList-statusList.statusLocation-statusLocation.statusMeasure-statusMeasure.statusMeasureReport-statusMeasureRepor"
"t.statusMedia-statusMedia.statusMedication-statusMedication.statusMedicationKnowledge-statusMedicationKnowledge.statusMe"
"dicinalProductAuthorization-statusMedicinalProductAuthorization.statusNutritionOrder-statusNutritionOrder.statusObservat"
"ion-statusObservation.statusPaymentNotice-statusPaymentNotice.statusPaymentReconciliation-statusPaymentReconciliation.st"
"atusPlanDefinition-statusPlanDefinition.statusProcedure-statusProcedure.statusQuestionnaire-statusQuestionnaire.statusQu"
"estionnaireResponse-statusQuestionnaireResponse.statusRequestGroup-statusRequestGroup.statusResearchDefinition-statusRes"
"earchDefinition.statusResearchElementDefinition-statusResearchElementDefinition.statusResearchStudy-statusResearchStudy."
"statusResearchSubject-statusResearchSubject.statusRiskEvidenceSynthesis-statusRiskEvidenceSynthesis.statusServiceRequest"
"-statusServiceRequest.statusSlot-statusSlot.statusSpecimen-statusSpecimen.statusSubscription-statusSubscription.statusSu"
"bstance-statusSubstance.statusSupplyDelivery-statusSupplyDelivery.statusSupplyRequest-statusSupplyRequest.statusTask-sta"
"tusTask.statusTestScript-statusTestScript.statusVisionPrescription-statusVisionPrescription.statusconformance-statusCapa"
"bilityStatement.status | CodeSystem.status | CompartmentDefinition.status | ConceptMap.status | GraphDefinition.status |"
" ImplementationGuide.status | MessageDefinition.status | NamingSystem.status | OperationDefinition.status | SearchParame"
"ter.status | StructureDefinition.status | StructureMap.status | TerminologyCapabilities.status | ValueSet.statusmedicati"
"ons-statusMedicationAdministration.status | MedicationDispense.status | MedicationRequest.status | MedicationStatement.s"
"tatusstatus-reasonImmunization-status-reasonImmunization.statusReasonstudyAdverseEvent-studyAdverseEvent.studyResearchSu"
"bject-studyResearchSubject.studysubdetail-udiClaim-subdetail-udiClaim.item.detail.subDetail.udiExplanationOfBenefit-subd"
"etail-udiExplanationOfBenefit.item.detail.subDetail.udisubjectAccount-subjectAccount.subjectAdverseEvent-subjectAdverseE"
"vent.subjectBasic-subjectBasic.subjectCarePlan-subjectCarePlan.subjectCareTeam-subjectCareTeam.subjectChargeItem-subject"
"ChargeItem.subjectClinicalImpression-subjectClinicalImpression.subjectCommunication-subjectCommunication.subjectCommunic"
"ationRequest-subjectCommunicationRequest.subjectComposition-subjectComposition.subjectCondition-subjectCondition.subject"
"Contract-subjectContract.subjectDeviceRequest-subjectDeviceRequest.subjectDeviceUseStatement-subjectDeviceUseStatement.s"
"ubjectDiagnosticReport-subjectDiagnosticReport.subjectDocumentManifest-subjectDocumentManifest.subjectDocumentReference-"
"subjectDocumentReference.subjectEncounter-subjectEncounter.subjectEnrollmentRequest-subjectFlag-subjectFlag.subjectGoal-"
"subjectGoal.subjectGuidanceResponse-subjectGuidanceResponse.subjectImagingStudy-subjectImagingStudy.subjectInvoice-subje"
"ctInvoice.subjectList-subjectList.subjectMeasureReport-subjectMeasureReport.subjectMedia-subjectMedia.subjectMedicationA"
"dministration-subjectMedicationAdministration.subjectMedicationDispense-subjectMedicationDispense.subjectMedicationReque"
"st-subjectMedicationRequest.subjectMedicationStatement-subjectMedicationStatement.subjectMedicinalProductAuthorization-s"
"ubjectMedicinalProductAuthorization.subjectMedicinalProductContraindication-subjectMedicinalProductContraindication.subj"
"ectMedicinalProductIndication-subjectMedicinalProductIndication.subjectMedicinalProductInteraction-subjectMedicinalProdu"
"ctInteraction.subjectMedicinalProductPackaged-subjectMedicinalProductPackaged.subjectMedicinalProductUndesirableEffect-s"
"ubjectMedicinalProductUndesirableEffect.subjectObservation-subjectObservation.subjectProcedure-subjectProcedure.subjectQ"
"uestionnaireResponse-subjectQuestionnaireResponse.subjectRequestGroup-subjectRequestGroup.subjectRiskAssessment-subjectR"
"iskAssessment.subjectServiceRequest-subjectServiceRequest.subjectSpecimen-subjectSpecimen.subjectSupplyRequest-subjectSu"
"pplyRequest.deliverToTask-subjectTask.forsubject-typeQuestionnaire-subject-typeQuestionnaire.subjectTypesubscriberCovera"
"ge-subscriberCoverage.subscribersubstanceAdverseEvent-substanceAdverseEvent.suspectEntity.instancesubstance-referenceSub"
"stance-substance-reference(Substance.ingredient.substance as Reference)subtypeAuditEvent-subtypeAuditEvent.subtypesucces"
"sorActivityDefinition-successorActivityDefinition.relatedArtifact.where(type='successor').resourceEventDefinition-succes"
"sorEventDefinition.relatedArtifact.where(type='successor').resourceEvidence-successorEvidence.relatedArtifact.where(type"
"='successor').resourceEvidenceVariable-successorEvidenceVariable.relatedArtifact.where(type='successor').resourceLibrary"
"-successorLibrary.relatedArtifact.where(type='successor').resourceMeasure-successorMeasure.relatedArtifact.where(type='s"
"uccessor').resourcePlanDefinition-successorPlanDefinition.relatedArtifact.where(type='successor').resourceResearchDefini"
"tion-successorResearchDefinition.relatedArtifact.where(type='successor').resourceResearchElementDefinition-successorRese"
"archElementDefinition.relatedArtifact.where(type='successor').resourcesupplementNutritionOrder-supplementNutritionOrder."
"supplement.typesupplementsCodeSystem-supplementsCodeSystem.supplementssupplierSupplyDelivery-supplierSupplyDelivery.supp"
"lierSupplyRequest-supplierSupplyRequest.suppliersupportImmunizationRecommendation-supportImmunizationRecommendation.reco"
"mmendation.supportingImmunizationsupported-profileCapabilityStatement-supported-profileCapabilityStatement.rest.resource"
".supportedProfilesupporting-infoAppointment-supporting-infoAppointment.supportingInformationClinicalImpression-supportin"
"g-infoClinicalImpression.supportingInfosystemCodeSystem-systemCodeSystem.urlOperationDefinition-systemOperationDefinitio"
"n.systemConceptMap-target(ConceptMap.target as canonical)MessageHeader-targetMessageHeader.destination.targetProvenance-"
"targetProvenance.targetSearchParameter-targetSearchParameter.targetVerificationResult-targetVerificationResult.targettar"
"get-codeConceptMap-target-codeConceptMap.group.element.target.codetarget-dateGoal-target-date(Goal.target.due as date)ta"
"rget-diseaseImmunization-target-diseaseImmunization.protocolApplied.targetDiseaseImmunizationEvaluation-target-diseaseIm"
"munizationEvaluation.targetDiseaseImmunizationRecommendation-target-diseaseImmunizationRecommendation.recommendation.tar"
"getDiseasetarget-speciesMedicinalProductPharmaceutical-target-speciesMedicinalProductPharmaceutical.routeOfAdministratio"
"n.targetSpecies.codetarget-systemConceptMap-target-systemConceptMap.group.targettarget-uriConceptMap-target-uri(ConceptM"
"ap.target as uri)telecomNamingSystem-telecomNamingSystem.contact.telecomOrganizationAffiliation-telecomOrganizationAffil"
"iation.telecomindividual-telecomPatient.telecom | Person.telecom | Practitioner.telecom | PractitionerRole.telecom | Rel"
"atedPerson.telecomtesterTestReport-testerTestReport.testertestscriptTestReport-testscriptTestReport.testScripttestscript"
"-capabilityTestScript-testscript-capabilityTestScript.metadata.capability.descriptiontimestampBundle-timestampBundle.tim"
"estamptitleActivityDefinition-titleActivityDefinition.titleChargeItemDefinition-titleChargeItemDefinition.titleCompositi"
"on-titleComposition.titleEffectEvidenceSynthesis-titleEffectEvidenceSynthesis.titleEventDefinition-titleEventDefinition."
"titleEvidence-titleEvidence.titleEvidenceVariable-titleEvidenceVariable.titleLibrary-titleLibrary.titleList-titleList.ti"
"tleMeasure-titleMeasure.titlePlanDefinition-titlePlanDefinition.titleQuestionnaire-titleQuestionnaire.titleResearchDefin"
"ition-titleResearchDefinition.titleResearchElementDefinition-titleResearchElementDefinition.titleResearchStudy-titleRese"
"archStudy.titleRiskEvidenceSynthesis-titleRiskEvidenceSynthesis.titleTestScript-titleTestScript.titleconformance-titleCa"
"pabilityStatement.title | CodeSystem.title | ConceptMap.title | ImplementationGuide.title | MessageDefinition.title | Op"
"erationDefinition.title | StructureDefinition.title | StructureMap.title | TerminologyCapabilities.title | ValueSet.titl"
"etopicActivityDefinition-topicActivityDefinition.topicEventDefinition-topicEventDefinition.topicEvidence-topicEvidence.t"
"opicEvidenceVariable-topicEvidenceVariable.topicLibrary-topicLibrary.topicMeasure-topicMeasure.topicPlanDefinition-topic"
"PlanDefinition.topicResearchDefinition-topicResearchDefinition.topicResearchElementDefinition-topicResearchElementDefini"
"tion.topictotalgrossInvoice-totalgrossInvoice.totalGrosstotalnetInvoice-totalnetInvoice.totalNettypeAccount-typeAccount."
"typeAuditEvent-typeAuditEvent.typeBundle-typeBundle.typeCoverage-typeCoverage.typeDevice-typeDevice.typeDeviceDefinition"
"-typeDeviceDefinition.typeDeviceMetric-typeDeviceMetric.typeGroup-typeGroup.typeInsurancePlan-typeInsurancePlan.typeInvo"
"ice-typeInvoice.typeLibrary-typeLibrary.typeLocation-typeLocation.typeMedia-typeMedia.typeMedicationDispense-typeMedicat"
"ionDispense.typeMolecularSequence-typeMolecularSequence.typeNamingSystem-typeNamingSystem.typeOperationDefinition-typeOp"
"erationDefinition.typeOrganization-typeOrganization.typePlanDefinition-typePlanDefinition.typeSearchParameter-typeSearch"
"Parameter.typeSpecimen-typeSpecimen.typeSpecimenDefinition-typeSpecimenDefinition.typeCollectedStructureDefinition-typeS"
"tructureDefinition.typeSubscription-typeSubscription.channel.typeclinical-typeAllergyIntolerance.type | Composition.type"
" | DocumentManifest.type | DocumentReference.type | Encounter.type | EpisodeOfCare.typeudi-carrierDevice-udi-carrierDevi"
"ce.udiCarrier.carrierHRFudi-diDevice-udi-diDevice.udiCarrier.deviceIdentifierurlActivityDefinition-urlActivityDefinition"
".urlChargeItemDefinition-urlChargeItemDefinition.urlContract-urlContract.urlDevice-urlDevice.urlEffectEvidenceSynthesis-"
"urlEffectEvidenceSynthesis.urlEventDefinition-urlEventDefinition.urlEvidence-urlEvidence.urlEvidenceVariable-urlEvidence"
"Variable.urlExampleScenario-urlExampleScenario.urlLibrary-urlLibrary.urlMeasure-urlMeasure.urlPlanDefinition-urlPlanDefi"
"nition.urlQuestionnaire-urlQuestionnaire.urlResearchDefinition-urlResearchDefinition.urlResearchElementDefinition-urlRes"
"earchElementDefinition.urlRiskEvidenceSynthesis-urlRiskEvidenceSynthesis.urlSubscription-urlSubscription.channel.endpoin"
"tTestScript-urlTestScript.urlconformance-urlCapabilityStatement.url | CodeSystem.url | CompartmentDefinition.url | Conce"
"ptMap.url | GraphDefinition.url | ImplementationGuide.url | MessageDefinition.url | OperationDefinition.url | SearchPara"
"meter.url | StructureDefinition.url | StructureMap.url | TerminologyCapabilities.url | ValueSet.urluseClaim-useClaim.use"
"ClaimResponse-useClaimResponse.usevaccine-codeImmunization-vaccine-codeImmunization.vaccineCodevaccine-typeImmunizationR"
"ecommendation-vaccine-typeImmunizationRecommendation.recommendation.vaccineCodeGroup-value(Group.characteristic.value as"
" CodeableConcept) | (Group.characteristic.value as boolean)NamingSystem-valueNamingSystem.uniqueId.valuevalue-conceptObs"
"ervation-value-concept(Observation.value as CodeableConcept)value-dateObservation-value-date(Observation.value as dateTi"
"me) | (Observation.value as Period)value-quantityObservation-value-quantity(Observation.value as Quantity) | (Observatio"
"n.value as SampledData)value-stringObservation-value-string(Observation.value as string) | (Observation.value as Codeabl"
"eConcept).textvaluesetStructureDefinition-valuesetStructureDefinition.snapshot.element.binding.valueSetvariant-endMolecu"
"larSequence-variant-endMolecularSequence.variant.endvariant-startMolecularSequence-variant-startMolecularSequence.varian"
"t.startverification-statusAllergyIntolerance-verification-statusAllergyIntolerance.verificationStatusCondition-verificat"
"ion-statusCondition.verificationStatusversionActivityDefinition-versionActivityDefinition.versionChargeItemDefinition-ve"
"rsionChargeItemDefinition.versionEffectEvidenceSynthesis-versionEffectEvidenceSynthesis.versionEventDefinition-versionEv"
"entDefinition.versionEvidence-versionEvidence.versionEvidenceVariable-versionEvidenceVariable.versionExampleScenario-ver"
"sionExampleScenario.versionLibrary-versionLibrary.versionMeasure-versionMeasure.versionPlanDefinition-versionPlanDefinit"
"ion.versionQuestionnaire-versionQuestionnaire.versionResearchDefinition-versionResearchDefinition.versionResearchElement"
"Definition-versionResearchElementDefinition.versionRiskEvidenceSynthesis-versionRiskEvidenceSynthesis.versionTestScript-"
"versionTestScript.versionconformance-versionCapabilityStatement.version | CodeSystem.version | CompartmentDefinition.ver"
"sion | ConceptMap.version | GraphDefinition.version | ImplementationGuide.version | MessageDefinition.version | Operatio"
"nDefinition.version | SearchParameter.version | StructureDefinition.version | StructureMap.version | TerminologyCapabili"
"ties.version | ValueSet.versionviewMedia-viewMedia.viewwhenProvenance-when(Provenance.occurred as dateTime)whenhandedove"
"rMedicationDispense-whenhandedoverMedicationDispense.whenHandedOverwhenpreparedMedicationDispense-whenpreparedMedication"
"Dispense.whenPreparedwindow-endMolecularSequence-window-endMolecularSequence.referenceSeq.windowEndwindow-startMolecular"
"Sequence-window-startMolecularSequence.referenceSeq.windowStart"
"\0\0\0\0\0\0\0";

const SearchParameterRow kSearchParameters[] = {
{0,0,0,0,0,0,0,0,0,0,0},{0,8,24,0,1,0,0,0,8,16,2},{24,27,38,11,1,0,0,0,3,11,3},{49,61,81,25,1,0,0,0,12,20,1},{106,114,130,21,1,0,0,0,8,16,7},
{151,157,24,0,1,0,0,0,6,14,3},{171,180,197,22,1,0,0,0,9,17,3},{219,226,241,20,1,0,0,0,7,15,7},{261,265,277,17,1,0,0,0,4,12,3},{294,299,24,0,3,0,0,0,5,19,2},
{318,331,354,59,5,0,0,0,13,23,6},{413,427,451,65,5,0,0,0,14,24,1},{516,532,558,30,5,0,0,0,16,26,2},{588,596,624,28,7,0,0,0,8,28,3},
{652,661,679,28,9,0,0,0,9,18,3},{707,714,732,18,11,13,0,0,7,18,4},{707,750,767,17,15,13,0,0,7,17,4},{707,784,799,15,17,13,0,0,7,15,4},
{814,832,855,22,19,0,0,0,18,23,3},{877,883,900,17,21,0,0,0,6,17,3},{877,917,931,24,23,0,0,0,6,14,3},{955,961,985,24,25,0,0,0,6,24,3},
{955,1009,1028,19,27,0,0,0,6,19,3},{955,1047,1077,30,29,0,0,0,6,30,3},{955,1107,1121,14,31,0,0,0,6,14,3},{955,1135,1154,19,33,0,0,0,6,19,3},
{955,1173,1196,23,35,0,0,0,6,23,3},{955,1219,1239,20,37,0,0,0,6,20,3},{955,1259,1274,15,39,0,0,0,6,15,3},{1289,1302,1324,29,41,0,0,0,13,22,3},
{1353,1366,1388,34,41,0,0,0,13,22,1},{1422,1440,1467,27,41,43,0,0,18,27,4},{1494,1499,1516,29,53,55,0,0,5,17,4},{1494,1545,1570,25,63,55,0,0,5,25,4},
{1494,1595,1608,33,23,65,0,0,5,13,4},{1494,1641,1655,14,39,55,0,0,5,14,4},{1669,1675,1687,12,74,0,0,0,6,12,3},{1699,1708,1730,22,76,0,0,0,9,22,3},
{1752,1760,1783,42,78,0,0,0,8,23,3},{1825,1832,1850,32,21,0,0,0,7,18,2},{1825,1882,1903,29,80,0,0,0,7,21,2},{1825,1932,1948,16,82,0,0,0,7,16,2},
{1825,1964,1984,20,27,0,0,0,7,20,2},{1825,2004,2022,79,84,0,0,0,7,18,2},{2101,2113,2139,34,80,0,0,0,12,26,2},{2101,2173,2194,21,82,0,0,0,12,21,2},
{2101,2215,2240,25,27,0,0,0,12,25,2},{2101,2265,2288,99,84,0,0,0,12,23,2},{2387,2402,2431,37,80,0,0,0,15,29,2},{2387,2468,2492,24,82,0,0,0,15,24,2},
{2387,2516,2544,28,27,0,0,0,15,28,2},{2387,2572,2598,111,84,0,0,0,15,26,2},{2709,2727,2759,40,80,0,0,0,18,32,2},{2709,2799,2826,27,82,0,0,0,18,27,2},
{2709,2853,2884,31,27,0,0,0,18,31,2},{2709,2915,2944,123,84,0,0,0,18,29,2},{3067,3080,3107,35,80,0,0,0,13,27,2},{3067,3142,3164,22,82,0,0,0,13,22,2},
{3067,3186,3212,26,27,0,0,0,13,26,2},{3067,3238,3262,103,84,0,0,0,13,24,2},{3365,3376,3401,33,80,0,0,0,11,25,3},{3365,3434,3454,20,82,0,0,0,11,20,3},
{3365,3474,3498,24,27,0,0,0,11,24,3},{3365,3522,3544,95,84,0,0,0,11,22,3},{3639,3654,3683,28,80,27,0,0,15,29,4},{3711,3716,3732,20,21,89,0,0,5,16,4},
{3711,3752,3768,20,96,89,0,0,5,16,4},{3788,3798,3819,21,21,0,0,0,10,21,2},{3840,3850,3871,21,21,0,0,0,10,21,3},{3840,3892,3913,21,96,0,0,0,10,21,3},
{3934,3944,3965,21,96,0,0,0,10,21,3},{3986,3991,4007,22,21,0,0,0,5,16,3},{4029,4040,4071,31,63,53,0,0,11,31,4},{4029,4102,4123,21,15,53,0,0,11,21,4},
{4144,4160,4188,27,53,0,0,0,16,28,3},{4144,4215,4236,20,98,0,0,0,16,21,3},{4256,4264,4291,27,100,102,0,0,8,27,4},{4256,4318,4336,18,5,102,0,0,8,18,4},
{4354,4362,4389,27,107,109,0,0,8,27,4},{4416,4424,4444,26,112,114,0,0,8,20,4},{4470,4483,4514,31,120,122,0,0,13,31,4},{4545,4551,4563,12,126,114,0,0,6,12,4},
{4545,4575,4593,18,112,89,0,0,6,18,4},{4545,4611,4631,20,128,130,0,0,6,20,4},{4545,4651,4674,23,134,89,0,0,6,23,4},{4545,4697,4721,24,120,89,0,0,6,24,4},
{4545,4745,4756,11,136,138,0,0,6,11,4},{4545,4767,4781,14,144,122,0,0,6,14,4},{4545,4795,4815,20,146,109,0,0,6,20,4},{4545,4835,4863,28,148,89,0,0,6,28,4},
{4545,4891,4910,19,150,130,0,0,6,19,4},{4929,4937,4966,31,152,0,0,0,8,29,1},{4929,4997,5027,30,148,0,0,0,8,30,1},{4929,5057,5078,23,150,0,0,0,8,21,1},
{4929,5101,5124,25,154,0,0,0,8,23,1},{5149,5160,5185,24,156,0,0,0,11,25,1},{5149,5209,5225,15,158,0,0,0,11,16,1},{5240,5250,5278,28,160,0,0,0,10,28,1},
{5306,5315,5333,18,162,27,0,0,9,18,4},{5351,5355,5379,24,164,164,0,0,4,24,4},{5351,5403,5423,20,166,0,0,0,4,20,3},{5351,5443,5467,34,7,7,0,0,4,24,4},
{5501,5510,5539,99,7,0,0,0,9,29,3},{5638,5646,5666,19,53,154,0,0,8,20,4},{5638,5685,5702,16,41,41,0,0,8,17,4},{5638,5718,5740,21,168,170,0,0,8,22,4},
{5638,5761,5790,28,152,170,0,0,8,29,4},{5638,5818,5840,21,156,170,0,0,8,22,4},{5638,5861,5886,24,316,318,0,0,8,25,4},{5638,5910,5928,17,15,154,0,0,8,18,4},
{5638,5945,5959,13,324,326,0,0,8,14,4},{5638,5972,5992,19,329,331,0,0,8,20,4},{5638,6011,6029,17,338,326,0,0,8,18,4},{5638,6046,6076,29,148,326,0,0,8,30,4},
{5638,6105,6128,22,154,340,0,0,8,23,4},{5638,6150,6163,12,158,170,0,0,8,13,4},{6175,6182,6202,20,344,346,0,0,7,20,4},{6222,6233,6253,20,352,31,0,0,11,20,4},
{6273,6282,6302,62,354,0,0,0,9,20,1},{6364,6373,6392,18,5,0,0,0,9,19,3},{6364,6410,6434,23,154,0,0,0,9,24,3},{6457,6465,6486,28,344,0,0,0,8,21,3},
{6457,6514,6531,28,9,0,0,0,8,17,3},{6559,6574,6594,19,158,0,0,0,15,20,3},{6613,6625,6651,58,358,33,0,0,12,26,4},{6709,6718,6736,17,41,360,0,0,9,18,4},
{6709,6753,6768,23,362,122,0,0,9,15,4},{6709,6791,6821,38,364,122,0,0,9,30,4},{6859,6867,6888,21,76,0,0,0,8,21,3},{6859,6909,6936,27,100,0,0,0,8,27,3},
{6859,6963,6980,17,41,0,0,0,8,17,3},{6859,6997,7014,17,360,0,0,0,8,17,3},{6859,7031,7053,22,168,0,0,0,8,22,3},{6859,7075,7104,29,152,0,0,0,8,29,3},
{6859,7133,7153,20,112,0,0,0,8,20,3},{6859,7173,7191,18,5,0,0,0,8,18,3},{6859,7209,7225,16,23,0,0,0,8,16,3},{6859,7241,7262,21,366,0,0,0,8,21,3},
{6859,7283,7308,25,316,0,0,0,8,25,3},{6859,7333,7359,26,120,0,0,0,8,26,3},{6859,7385,7398,13,19,0,0,0,8,13,3},{6859,7411,7437,26,160,0,0,0,8,26,3},
{6859,7463,7491,28,368,0,0,0,8,28,3},{6859,7519,7545,26,370,0,0,0,8,26,3},{6859,7571,7591,20,329,0,0,0,8,20,3},{6859,7611,7629,18,338,0,0,0,8,18,3},
{6859,7647,7669,22,372,0,0,0,8,22,3},{6859,7691,7714,23,154,0,0,0,8,23,3},{6859,7737,7755,18,374,0,0,0,8,18,3},{6859,7773,7795,22,376,0,0,0,8,22,3},
{7817,7831,7851,25,74,0,0,0,14,20,3},{7817,7876,7908,32,25,0,0,0,14,32,3},{7949,7969,7995,20,74,0,0,2,20,26,5},{8015,8025,8053,41,378,0,2,0,10,28,3},
{8135,8164,8211,25,378,0,2,3,29,47,5},{8256,8284,8330,30,378,0,5,3,28,46,5},{8360,8365,8391,26,364,362,8,0,5,26,4},{8417,8422,8437,15,15,0,8,0,5,15,3},
{8452,8462,8481,19,352,0,8,0,10,19,3},{8500,8511,8531,20,352,0,8,0,11,20,2},{8551,8565,8599,57,380,0,8,0,14,34,3},{8656,8675,8714,47,380,0,8,0,19,39,3},
{8761,8776,8810,33,100,0,8,0,15,34,3},{8761,8843,8868,24,5,0,8,0,15,25,3},{7940,8892,8902,10,126,0,8,0,4,10,3},{7940,8912,8927,15,11,0,8,0,4,15,3},
{7940,8942,8957,23,382,0,8,0,4,15,3},{7940,8980,9006,26,384,0,8,0,4,26,3},{7940,9032,9050,18,128,0,8,0,4,18,3},{7940,9068,9078,10,74,0,8,0,4,10,3},
{7940,9088,9112,24,380,0,8,0,4,24,3},{7940,9136,9154,27,146,0,8,0,4,18,3},{7940,9181,9205,24,164,0,8,0,4,24,3},{7940,9229,9247,23,386,0,8,0,4,18,3},
{7940,9270,9287,17,150,0,8,0,4,17,3},{7940,9304,9324,20,166,0,8,0,4,20,3},{7940,9344,9358,68,374,0,8,0,4,14,3},{7940,9426,9453,32,388,0,8,0,4,27,3},
{7940,9485,9494,9,158,0,8,0,4,9,3},{7940,9503,9516,72,390,0,8,0,4,13,3},{7940,9588,9601,489,392,0,8,0,4,13,3},{10115,10133,10163,11,329,0,8,2,18,30,5},
{10211,10226,10163,11,329,0,10,2,15,27,5},{10271,10290,10163,11,329,0,12,2,19,31,5},{10337,10354,10163,11,329,0,14,2,17,29,5},
{10383,10392,10410,29,9,0,16,0,9,18,1},{10439,10448,10466,29,9,109,16,0,9,18,4},{10495,10505,10527,45,329,0,16,0,10,22,3},
{10572,10596,10632,35,329,0,16,2,24,36,5},{10667,10692,10632,35,329,0,18,2,25,37,5},{10729,10753,10789,69,329,0,20,0,24,36,3},
{10858,10877,10908,89,329,0,20,0,19,31,3},{10997,11017,11049,159,329,0,20,0,20,32,6},{11208,11221,11247,26,33,0,20,0,13,26,3},
{11273,11282,11307,36,166,166,20,0,9,25,4},{11343,11357,11383,26,329,0,20,0,14,26,3},{11409,11437,11477,21,329,0,20,2,28,40,5},
{11498,11527,11477,21,329,0,22,2,29,41,5},{11568,11596,11636,38,329,0,24,0,28,40,3},{11674,11697,11732,48,329,0,24,0,23,35,3},
{11780,11804,11840,88,329,0,24,0,24,36,6},{11928,11939,11969,69,407,170,24,0,11,30,4},{11928,12038,12065,66,409,170,24,0,11,27,4},
{11928,12131,12151,59,411,170,24,0,11,20,4},{11928,12210,12238,67,413,170,24,0,11,28,4},{11928,12305,12324,58,415,170,24,0,11,19,4},
{11928,12382,12401,58,417,170,24,0,11,19,4},{11928,12459,12485,65,419,170,24,0,11,26,4},{11928,12550,12580,69,421,170,24,0,11,30,4},
{11928,12649,12686,76,423,170,24,0,11,37,4},{12762,12773,12791,24,425,112,24,0,11,18,4},{12815,12825,12852,31,316,0,24,0,10,27,3},
{12883,12892,12910,18,41,5,24,0,9,18,4},{12883,12928,12951,33,358,5,24,0,9,23,4},{12883,12984,13008,24,427,5,24,0,9,24,4},
{13032,13047,13074,27,112,0,24,0,15,27,3},{13101,13116,13140,23,429,0,24,0,15,24,3},{13163,13172,13189,17,23,114,24,0,9,17,4},
{13206,13213,13233,25,431,0,24,0,7,20,2},{13206,13258,13278,20,433,0,24,0,7,20,3},{13298,13307,13325,23,9,0,24,0,9,18,3},
{13298,13348,13376,44,435,0,24,0,9,28,3},{13420,13432,13453,29,9,0,24,0,12,21,3},{13482,13502,13532,29,374,0,24,0,20,30,3},
{13561,13573,13596,18,382,0,24,0,12,23,3},{13614,13626,13646,27,415,0,24,0,12,20,3},{13673,13684,13713,48,120,0,24,0,11,29,3},
{13761,13768,13794,56,407,0,24,0,7,26,3},{13761,13850,13868,18,11,437,24,0,7,18,4},{13761,13886,13914,58,440,0,24,0,7,28,3},
{13761,13972,13991,22,112,0,24,0,7,19,3},{13761,14013,14044,61,442,0,24,0,7,31,3},{13761,14105,14128,53,409,0,24,0,7,23,3},
{13761,14181,14197,46,411,0,24,0,7,16,3},{13761,14243,14267,54,413,0,24,0,7,24,3},{13761,14321,14344,53,444,0,24,0,7,23,3},
{13761,14397,14412,45,415,0,24,0,7,15,3},{13761,14457,14472,45,417,0,24,0,7,15,3},{13761,14517,14549,32,446,437,24,0,7,32,4},
{13761,14581,14607,26,448,437,24,0,7,26,4},{13761,14633,14660,27,368,437,24,0,7,27,4},{13761,14687,14709,52,419,0,24,0,7,22,3},
{13761,14761,14782,51,386,0,24,0,7,21,3},{13761,14833,14859,56,421,0,24,0,7,26,3},{13761,14915,14948,63,423,0,24,0,7,33,3},
{13761,15011,15040,59,450,0,24,0,7,29,3},{13761,15099,15117,48,452,0,24,0,7,18,3},{13761,15165,15184,790,454,0,24,0,7,19,3},
{15974,15990,16025,98,407,0,24,0,16,35,6},{15974,16123,16160,102,440,0,24,0,16,37,6},{15974,16262,16302,108,442,0,24,0,16,40,6},
{15974,16410,16442,92,409,0,24,0,16,32,6},{15974,16534,16559,78,411,0,24,0,16,25,6},{15974,16637,16670,94,413,0,24,0,16,33,6},
{15974,16764,16796,92,444,0,24,0,16,32,6},{15974,16888,16912,76,415,0,24,0,16,24,6},{15974,16988,17012,76,417,0,24,0,16,24,6},
{15974,17088,17119,90,419,0,24,0,16,31,6},{15974,17209,17239,88,386,0,24,0,16,30,6},{15974,17327,17362,98,421,0,24,0,16,35,6},
{15974,17460,17502,112,423,0,24,0,16,42,6},{15974,17614,17652,104,450,0,24,0,16,38,6},{15974,17756,17783,82,452,0,24,0,16,27,6},
{15974,17865,17893,1345,454,0,24,0,16,28,6},{19238,19250,19281,34,407,0,24,0,12,31,3},{19238,19315,19348,36,440,0,24,0,12,33,3},
{19238,19384,19420,39,442,0,24,0,12,36,3},{19238,19459,19487,31,409,0,24,0,12,28,3},{19238,19518,19539,24,411,0,24,0,12,21,3},
{19238,19563,19592,32,413,0,24,0,12,29,3},{19238,19624,19652,31,444,0,24,0,12,28,3},{19238,19683,19703,23,415,0,24,0,12,20,3},
{19238,19726,19746,23,417,0,24,0,12,20,3},{19238,19769,19796,30,419,0,24,0,12,27,3},{19238,19826,19852,29,386,0,24,0,12,26,3},
{19238,19881,19912,34,421,0,24,0,12,31,3},{19238,19946,19984,41,423,0,24,0,12,38,3},{19238,20025,20059,37,450,0,24,0,12,34,3},
{19238,20096,20119,26,452,0,24,0,12,23,3},{19238,20145,20169,482,454,0,24,0,12,24,3},{20687,20708,20748,29,407,0,24,2,21,40,5},
{20687,20777,20819,31,440,0,26,2,21,42,5},{20687,20850,20895,34,442,0,28,2,21,45,5},{20687,20929,20966,26,409,0,30,2,21,37,5},
{20687,20992,21022,19,411,0,32,2,21,30,5},{20687,21041,21079,27,413,0,34,2,21,38,5},{20687,21106,21143,26,444,0,36,2,21,37,5},
{20687,21169,21198,18,415,0,38,2,21,29,5},{20687,21216,21245,18,417,0,40,2,21,29,5},{20687,21263,21299,25,419,0,42,2,21,36,5},
{20687,21324,21359,24,386,0,44,2,21,35,5},{20687,21383,21423,29,421,0,46,2,21,40,5},{20687,21452,21499,36,423,0,48,2,21,47,5},
{20687,21535,21578,32,450,0,50,2,21,43,5},{20687,21610,21642,21,452,0,52,2,21,32,5},{20687,21663,21696,412,454,0,54,2,21,33,5},
{22108,22126,20748,29,407,0,56,2,18,37,5},{22108,22163,20819,31,440,0,58,2,18,39,5},{22108,22202,20895,34,442,0,60,2,18,42,5},
{22108,22244,20966,26,409,0,62,2,18,34,5},{22108,22278,21022,19,411,0,64,2,18,27,5},{22108,22305,21079,27,413,0,66,2,18,35,5},
{22108,22340,21143,26,444,0,68,2,18,34,5},{22108,22374,21198,18,415,0,70,2,18,26,5},{22108,22400,21245,18,417,0,72,2,18,26,5},
{22108,22426,21299,25,419,0,74,2,18,33,5},{22108,22459,21359,24,386,0,76,2,18,32,5},{22108,22491,21423,29,421,0,78,2,18,37,5},
{22108,22528,21499,36,423,0,80,2,18,44,5},{22108,22572,21578,32,450,0,82,2,18,40,5},{22108,22612,21642,21,452,0,84,2,18,29,5},
{22108,22641,21696,412,454,0,86,2,18,30,5},{22671,22678,22715,37,469,0,88,0,7,37,3},{22752,22760,22789,39,364,352,88,0,8,29,4},
{22828,22841,22872,30,25,82,88,0,13,31,4},{22902,22909,22922,13,126,0,88,0,7,13,1},{22902,22935,22948,13,362,0,88,0,7,13,1},
{22902,22961,22982,21,471,0,88,0,7,21,1},{22902,23003,23037,34,473,0,88,0,7,34,1},{22902,23071,23106,35,475,0,88,0,7,35,1},
{22902,23141,23165,24,134,0,88,0,7,24,1},{22902,23189,23217,28,364,0,88,0,7,28,1},{22902,23245,23258,13,324,0,88,0,7,13,1},
{22902,23271,23292,21,477,0,88,0,7,21,1},{22902,23313,23342,29,479,0,88,0,7,29,1},{23371,23379,23400,21,433,0,88,0,8,21,2},
{23421,23432,23462,30,100,0,88,0,11,30,3},{23492,23501,23528,27,120,27,88,0,9,27,4},{23555,23559,23571,32,23,170,88,0,4,12,4},
{23603,23621,23651,28,329,0,88,0,18,30,3},{23679,23683,23706,23,407,0,88,0,4,23,1},{23679,23729,23746,17,76,0,88,0,4,17,1},
{23679,23763,23779,17,53,0,88,0,4,16,1},{23679,23796,23811,19,21,0,88,0,4,15,1},{23679,23830,23855,25,440,0,88,0,4,25,1},
{23679,23880,23902,22,120,0,88,0,4,22,1},{23679,23924,23952,28,442,0,88,0,4,28,1},{23679,23980,24000,20,409,0,88,0,4,20,1},
{23679,24020,24033,13,411,0,88,0,4,13,1},{23679,24046,24067,21,413,0,88,0,4,21,1},{23679,24088,24108,20,444,0,88,0,4,20,1},
{23679,24128,24155,27,481,0,88,0,4,27,1},{23679,24182,24213,31,483,0,88,0,4,31,1},{23679,24244,24256,12,17,0,88,0,4,12,1},
{23679,24268,24280,12,415,0,88,0,4,12,1},{23679,24292,24304,12,417,0,88,0,4,12,1},{23679,24316,24334,18,485,0,88,0,4,18,1},
{23679,24352,24380,30,29,0,88,0,4,28,1},{23679,24410,24429,19,419,0,88,0,4,19,1},{23679,24448,24469,23,35,0,88,0,4,21,1},
{23679,24492,24510,18,386,0,88,0,4,18,1},{23679,24528,24551,23,421,0,88,0,4,23,1},{23679,24574,24604,30,423,0,88,0,4,30,1},
{23679,24634,24652,20,372,0,88,0,4,18,1},{23679,24672,24692,22,487,0,88,0,4,20,1},{23679,24714,24740,26,450,0,88,0,4,26,1},
{23679,24766,24779,24,39,0,88,0,4,13,1},{23679,24803,24818,15,452,0,88,0,4,15,1},{23679,24833,24846,396,489,0,88,0,4,13,1},
{23679,25242,25258,328,454,0,88,0,4,16,1},{23679,25586,25602,48,160,0,88,0,4,16,1},{25650,25658,25681,23,78,0,88,0,8,23,1},
{25704,25715,25745,30,507,0,88,0,11,30,1},{25775,25785,25803,30,31,0,88,0,10,18,1},{25833,25841,25857,55,31,0,88,0,8,16,3},
{25912,25922,25947,32,419,509,88,0,10,25,4},{25912,25979,26003,29,386,0,88,0,10,24,7},{26032,26041,26059,18,352,0,88,0,9,18,2},
{26077,26087,26116,97,407,170,88,0,10,29,4},{26077,26213,26239,65,409,170,88,0,10,26,4},{26077,26304,26323,58,411,170,88,0,10,19,4},
{26077,26381,26408,66,413,170,88,0,10,27,4},{26077,26474,26504,33,513,513,88,0,10,30,4},{26077,26537,26555,57,415,170,88,0,10,18,4},
{26077,26612,26630,75,417,170,88,0,10,18,4},{26077,26705,26730,89,419,170,88,0,10,25,4},{26077,26819,26848,97,421,170,88,0,10,29,4},
{26077,26945,26981,111,423,170,88,0,10,36,4},{27092,27101,27121,50,515,0,88,0,9,20,7},{27171,27181,27211,30,7,0,88,0,10,30,3},
{27241,27253,27284,70,407,170,88,0,12,31,4},{27241,27354,27382,67,409,170,88,0,12,28,4},{27241,27449,27470,60,411,170,88,0,12,21,4},
{27241,27530,27559,68,413,170,88,0,12,29,4},{27241,27627,27647,59,415,170,88,0,12,20,4},{27241,27706,27726,59,417,170,88,0,12,20,4},
{27241,27785,27809,23,329,517,88,0,12,24,4},{27241,27832,27859,66,419,170,88,0,12,27,4},{27241,27925,27956,70,421,170,88,0,12,31,4},
{27241,28026,28064,77,423,170,88,0,12,38,4},{27241,28141,28169,27,166,166,88,0,12,28,4},{28196,28207,28237,30,407,0,88,0,11,30,2},
{28196,28267,28299,32,440,0,88,0,11,32,2},{28196,28331,28359,28,134,0,88,0,11,28,2},{28196,28387,28416,29,120,0,88,0,11,29,2},
{28196,28445,28480,35,442,0,88,0,11,35,2},{28196,28515,28542,27,409,0,88,0,11,27,2},{28196,28569,28589,20,411,0,88,0,11,20,2},
{28196,28609,28637,28,413,0,88,0,11,28,2},{28196,28665,28684,19,415,0,88,0,11,19,2},{28196,28703,28722,19,417,0,88,0,11,19,2},
{28196,28741,28767,26,419,0,88,0,11,26,2},{28196,28793,28818,25,386,0,88,0,11,25,2},{28196,28843,28873,30,421,0,88,0,11,30,2},
{28196,28903,28940,37,423,0,88,0,11,37,2},{28196,28977,29010,33,450,0,88,0,11,33,2},{28196,29043,29065,22,452,0,88,0,11,22,2},
{28196,29087,29110,426,454,0,88,0,11,23,2},{29536,29547,29577,30,448,82,88,0,11,30,4},{29536,29607,29632,30,146,0,88,0,11,25,2},
{29662,29677,29706,34,146,0,88,0,15,29,7},{29740,29750,29766,21,362,524,88,0,10,16,4},{29740,29787,29818,36,364,524,88,0,10,31,4},
{29854,29860,29880,33,156,524,88,0,6,20,4},{29854,29913,29938,25,526,524,88,0,6,25,4},{29854,29963,29975,12,324,528,88,0,6,12,4},
{29854,29987,30018,31,446,524,88,0,6,31,4},{29854,30049,30067,18,329,528,88,0,6,18,4},{30085,30096,30114,70,524,0,88,0,11,18,2},
{30184,30193,30212,29,15,531,88,0,9,19,4},{30241,30252,30276,37,344,0,88,0,11,24,3},{30313,30324,30349,25,471,0,88,0,11,25,2},
{30313,30374,30413,39,475,0,88,0,11,39,2},{30313,30452,30484,32,364,0,88,0,11,32,2},{30313,30516,30549,33,479,0,88,0,11,33,2},
{30582,30588,30603,15,162,82,88,0,6,15,4},{30618,30629,30663,33,481,0,88,0,11,34,3},{30696,30704,30732,28,380,0,88,0,8,28,3},
{30760,30769,30797,34,407,0,88,0,9,28,1},{30760,30831,30861,36,440,0,88,0,9,30,1},{30760,30897,30930,39,442,0,88,0,9,33,1},
{30760,30969,30994,31,409,0,88,0,9,25,1},{30760,31025,31043,24,411,0,88,0,9,18,1},{30760,31067,31093,32,413,0,88,0,9,26,1},
{30760,31125,31142,23,415,0,88,0,9,17,1},{30760,31165,31182,23,417,0,88,0,9,17,1},{30760,31205,31234,29,368,0,88,0,9,29,1},
{30760,31263,31287,30,419,0,88,0,9,24,1},{30760,31317,31340,29,386,0,88,0,9,23,1},{30760,31369,31397,34,421,0,88,0,9,28,1},
{30760,31431,31466,41,423,0,88,0,9,35,1},{30760,31507,31538,37,450,0,88,0,9,31,1},{31575,31589,31628,34,446,0,88,0,14,39,1},
{31662,31667,31696,53,29,0,88,0,5,29,3},{31662,31749,31765,216,534,0,88,0,5,16,3},{31981,31993,32010,16,540,0,88,0,12,17,3},
{32026,32035,32053,18,41,15,88,0,9,18,4},{32026,32071,32089,18,360,15,88,0,9,18,4},{32026,32107,32122,20,362,15,88,0,9,15,4},
{32026,32142,32170,28,107,15,88,0,9,28,4},{32026,32198,32221,23,168,15,88,0,9,23,4},{32026,32244,32274,30,152,15,88,0,9,30,4},
{32026,32304,32323,19,5,15,88,0,9,19,4},{32026,32342,32372,35,364,15,88,0,9,30,4},{32026,32407,32429,22,344,15,88,0,9,22,4},
{32026,32451,32466,15,324,15,88,0,9,15,4},{32026,32481,32512,31,148,15,88,0,9,31,4},{32026,32543,32565,22,150,15,88,0,9,22,4},
{32026,32587,32601,14,158,15,88,0,9,14,4},{32026,32615,32633,306,542,437,88,0,9,18,4},{32026,32939,32960,27,160,15,88,0,9,21,4},
{32987,32995,33021,26,25,429,88,0,8,26,4},{32987,33047,33068,52,344,429,88,0,8,21,4},{32987,33120,33142,22,80,429,88,0,8,22,4},
{32987,33164,33181,17,82,429,88,0,8,17,4},{32987,33198,33219,21,27,429,88,0,8,21,4},{32987,33240,33272,32,29,429,88,0,8,32,4},
{32987,33304,33329,25,35,429,88,0,8,25,4},{33354,33366,33389,22,11,0,88,0,12,23,1},{33411,33418,33436,18,11,89,88,0,7,18,4},
{33411,33454,33467,13,362,109,88,0,7,13,4},{33411,33480,33514,34,473,109,88,0,7,34,4},{33411,33548,33576,28,364,109,88,0,7,28,4},
{33411,33604,33625,21,146,109,88,0,7,21,4},{33646,33652,33669,22,21,170,88,0,6,17,4},{33646,33691,33708,22,96,170,88,0,6,17,4},
{33730,33741,33763,22,21,0,88,0,11,22,2},{33785,33796,33818,22,21,0,88,0,11,22,3},{33840,33851,33873,22,21,0,88,0,11,22,3},
{33895,33900,33917,25,112,170,88,0,5,17,4},{33942,33957,33982,23,15,358,88,0,15,25,4},{34005,34023,34055,31,485,170,88,0,18,32,4},
{34086,34091,34109,18,76,0,88,0,5,18,3},{34086,34127,34150,31,120,0,88,0,5,23,3},{34086,34181,34204,23,370,0,88,0,5,23,3},
{34086,34227,34246,19,146,0,88,0,5,19,3},{34265,34275,34299,77,156,0,88,0,10,24,1},{34376,34384,34402,23,5,0,88,0,8,18,3},
{34425,34440,34465,25,5,170,88,0,15,25,4},{34490,34497,34510,28,74,0,88,0,7,13,3},{34538,34547,34565,29,390,0,88,0,9,18,7},
{34594,34606,34638,32,513,0,88,0,12,32,3},{34594,34670,34702,32,7,0,88,0,12,32,3},{34734,34749,34775,31,555,0,88,0,15,26,1},
{34806,34812,34828,25,374,0,88,0,6,16,1},{34853,34864,34895,32,7,0,88,0,11,31,3},{34927,34935,34949,14,362,82,88,0,8,14,4},
{34927,34963,34998,35,473,82,88,0,8,35,4},{34927,35033,35059,38,120,0,88,0,8,26,3},{34927,35097,35126,29,364,82,88,0,8,29,4},
{35155,35170,35196,25,11,0,88,0,15,26,0},{35221,35227,35244,46,557,0,88,0,6,17,2},{35290,35301,35332,27,560,0,88,0,11,31,3},
{35359,35371,35402,46,107,0,88,0,12,31,3},{35448,35459,35489,40,107,562,88,0,11,30,4},{35529,35534,35557,28,370,0,88,0,5,23,3},
{35529,35585,35604,19,146,170,88,0,5,19,4},{35529,35623,35640,17,329,170,88,0,5,17,4},{35529,35657,35676,19,372,0,88,0,5,19,3},
{35529,35695,35705,10,158,170,88,0,5,10,4},{35715,35719,35734,15,555,0,88,0,4,15,3},{35749,35755,35781,26,560,0,88,0,6,26,3},
{35749,35807,35831,32,120,0,88,0,6,24,3},{35863,35870,35892,45,78,0,88,0,7,22,3},{35937,35943,35960,75,84,0,88,0,6,17,3},
{36035,36055,36083,27,31,122,88,0,20,28,4},{36110,36115,36131,44,557,0,88,0,5,16,2},{36175,36181,36207,34,513,7,88,0,6,26,4},
{36241,36245,36258,13,41,19,88,0,4,13,4},{36271,36287,36324,36,152,0,88,0,16,37,3},{36271,36360,36390,29,156,0,88,0,16,30,3},
{36271,36419,36448,28,150,0,88,0,16,29,3},{36271,36476,36497,20,158,0,88,0,16,21,3},{36517,36522,36547,39,560,513,88,0,5,25,4},
{36586,36596,36618,21,329,566,88,0,10,22,4},{36639,36645,36681,36,469,27,88,0,6,36,4},{36717,36724,36744,26,431,0,88,0,7,20,3},
{36770,36780,36804,24,128,0,88,0,10,24,1},{36828,36838,36856,18,13,0,88,0,10,18,3},{36828,36874,36903,29,407,0,88,0,10,29,3},
{36828,36932,36954,22,53,0,88,0,10,22,3},{36828,36976,37006,30,63,0,88,0,10,30,3},{36828,37036,37052,16,126,0,88,0,10,16,3},
{36828,37068,37092,24,570,0,88,0,10,24,3},{36828,37116,37133,17,425,0,88,0,10,17,3},{36828,37150,37171,21,11,0,88,0,10,21,3},
{36828,37192,37223,31,440,0,88,0,10,31,3},{36828,37254,37270,16,362,0,88,0,10,16,3},{36828,37286,37310,24,471,0,88,0,10,24,3},
{36828,37334,37363,29,107,0,88,0,10,29,3},{36828,37392,37416,24,168,0,88,0,10,24,3},{36828,37440,37471,31,152,0,88,0,10,31,3},
{36828,37502,37521,19,162,0,88,0,10,19,3},{36828,37540,37559,19,352,0,88,0,10,19,3},{36828,37578,37615,37,473,0,88,0,10,37,3},
{36828,37652,37690,38,475,0,88,0,10,38,3},{36828,37728,37745,17,524,0,88,0,10,17,3},{36828,37762,37789,27,572,0,88,0,10,27,3},
{36828,37816,37839,23,366,0,88,0,10,23,3},{36828,37862,37891,29,526,0,88,0,10,29,3},{36828,37920,37954,34,442,0,88,0,10,34,3},
{36828,37988,38007,19,429,0,88,0,10,19,3},{36828,38026,38054,28,574,0,88,0,10,28,3},{36828,38082,38111,29,576,0,88,0,10,29,3},
{36828,38140,38166,26,409,0,88,0,10,26,3},{36828,38192,38211,19,411,0,88,0,10,19,3},{36828,38230,38257,27,413,0,88,0,10,27,3},
{36828,38284,38310,26,444,0,88,0,10,26,3},{36828,38336,38367,31,364,0,88,0,10,31,3},{36828,38398,38413,15,136,0,88,0,10,15,3},
{36828,38428,38444,16,74,0,88,0,10,16,3},{36828,38460,38487,27,578,0,88,0,10,27,3},{36828,38514,38542,28,25,0,88,0,10,28,3},
{36828,38570,38603,33,481,0,88,0,10,33,3},{36828,38636,38673,37,483,0,88,0,10,37,3},{36828,38710,38734,24,80,0,88,0,10,24,3},
{36828,38758,38776,18,17,0,88,0,10,18,3},{36828,38794,38812,18,415,0,88,0,10,18,3},{36828,38830,38849,19,82,0,88,0,10,19,3},
{36828,38868,38886,18,417,0,88,0,10,18,3},{36828,38904,38928,24,485,0,88,0,10,24,3},{36828,38952,38968,16,324,0,88,0,10,16,3},
{36828,38984,39005,21,555,0,88,0,10,21,3},{36828,39026,39053,27,580,0,88,0,10,27,3},{36828,39080,39120,40,469,0,88,0,10,40,3},
{36828,39160,39195,35,582,0,88,0,10,35,3},{36828,39230,39271,41,584,0,88,0,10,41,3},{36828,39312,39340,28,378,0,88,0,10,28,3},
{36828,39368,39391,23,27,0,88,0,10,23,3},{36828,39414,39448,34,29,0,88,0,10,34,3},{36828,39482,39500,18,31,0,88,0,10,18,3},
{36828,39518,39542,24,477,0,88,0,10,24,3},{36828,39566,39598,32,479,0,88,0,10,32,3},{36828,39630,39647,17,586,0,88,0,10,17,3},
{36828,39664,39689,25,419,0,88,0,10,25,3},{36828,39714,39737,23,33,0,88,0,10,23,3},{36828,39760,39787,27,35,0,88,0,10,27,3},
{36828,39814,39838,24,386,0,88,0,10,24,3},{36828,39862,39894,32,148,0,88,0,10,32,3},{36828,39926,39950,24,37,0,88,0,10,24,3},
{36828,39974,39997,23,150,0,88,0,10,23,3},{36828,40020,40049,29,421,0,88,0,10,29,3},{36828,40078,40114,36,423,0,88,0,10,36,3},
{36828,40150,40174,24,372,0,88,0,10,24,3},{36828,40198,40224,26,487,0,88,0,10,26,3},{36828,40250,40282,32,450,0,88,0,10,32,3},
{36828,40314,40333,19,39,0,88,0,10,19,3},{36828,40352,40367,15,98,0,88,0,10,15,3},{36828,40382,40401,19,9,0,88,0,10,19,3},
{36828,40420,40449,29,435,0,88,0,10,29,3},{36828,40478,40498,20,374,0,88,0,10,20,3},{36828,40518,40533,15,158,0,88,0,10,15,3},
{36828,40548,40569,21,588,0,88,0,10,21,3},{36828,40590,40611,21,452,0,88,0,10,21,3},{36828,40632,40651,884,590,0,88,0,10,19,3},
{36828,41535,41557,157,621,0,88,0,10,22,3},{41714,41732,41773,40,481,628,88,0,18,41,4},{41813,41823,41847,24,128,170,88,0,10,24,4},
{41871,41888,41919,29,358,154,88,0,17,31,4},{41948,41958,41984,26,487,31,88,0,10,26,4},{42010,42021,42059,70,483,170,88,0,11,38,4},
{42129,42139,42160,41,555,630,88,0,10,21,4},{42129,42201,42231,50,380,374,88,0,10,30,4},{42281,42296,42322,47,555,0,88,0,15,26,3},
{42281,42369,42404,56,380,0,88,0,15,35,3},{42460,42473,42506,32,164,7,88,0,13,33,4},{42538,42546,42567,32,344,0,88,0,8,21,3},
{42538,42599,42627,28,164,0,88,0,8,28,3},{42655,42667,42688,24,162,0,88,0,12,21,7},{42712,42734,42765,30,41,633,88,0,22,31,4},
{42712,42795,42831,35,168,633,88,0,22,36,4},{42712,42866,42902,35,156,639,88,0,22,36,4},{42712,42937,42979,41,642,633,88,0,22,42,4},
{42712,43020,43057,36,78,639,88,0,22,37,4},{42712,43093,43125,31,338,633,88,0,22,32,4},{42712,43156,43191,34,150,0,88,0,22,35,4},
{42712,43225,43262,36,154,639,88,0,22,37,4},{43298,43314,43339,24,41,0,88,0,16,25,7},{43298,43363,43393,29,168,0,88,0,16,30,7},
{43298,43422,43452,29,156,0,88,0,16,30,7},{43298,43481,43517,35,642,0,88,0,16,36,7},{43298,43552,43583,30,78,0,88,0,16,31,7},
{43298,43613,43639,25,338,0,88,0,16,26,7},{43298,43664,43693,28,150,0,88,0,16,29,7},{43298,43721,43752,30,154,0,88,0,16,31,7},
{43782,43791,43814,23,156,644,88,0,9,23,4},{43837,43844,43857,13,362,27,88,0,7,13,4},{43837,43870,43891,21,471,27,88,0,7,21,4},
{43837,43912,43947,35,475,27,88,0,7,35,4},{43982,44000,44036,43,160,27,88,0,18,36,4},{44079,44097,44133,27,160,647,88,0,18,36,4},
{44160,44182,44222,31,160,0,88,0,22,40,3},{44253,44259,44274,15,41,0,88,0,6,15,3},{44253,44289,44309,20,156,0,88,0,6,20,3},
{44253,44329,44353,24,160,0,88,0,6,24,3},{44253,44377,44396,19,150,0,88,0,6,19,3},{44253,44415,44436,21,154,0,88,0,6,21,3},
{44253,44457,44468,11,158,0,88,0,6,11,3},{44479,44490,44514,24,344,109,88,0,11,24,4},{44538,44551,44583,37,107,655,88,0,13,32,4},
{44620,44626,44641,15,162,0,88,0,6,15,1},{44620,44656,44679,23,316,0,88,0,6,23,1},{44620,44702,44719,17,588,0,88,0,6,17,1},
{44736,44742,44756,14,17,27,88,0,6,14,4},{44770,44774,44795,24,134,170,88,0,4,21,4},{44770,44819,44831,21,144,170,88,0,4,12,4},
{44770,44852,44861,15,540,170,88,0,4,9,4},{44876,44884,44898,14,362,524,88,0,8,14,4},{44876,44912,44941,29,364,524,88,0,8,29,4},
{44970,44982,45013,31,407,0,88,0,12,31,3},{44970,45044,45077,33,440,0,88,0,12,33,3},{44970,45110,45146,36,442,0,88,0,12,36,3},
{44970,45182,45210,28,409,0,88,0,12,28,3},{44970,45238,45259,21,411,0,88,0,12,21,3},{44970,45280,45309,29,413,0,88,0,12,29,3},
{44970,45338,45366,28,444,0,88,0,12,28,3},{44970,45394,45414,20,415,0,88,0,12,20,3},{44970,45434,45454,20,417,0,88,0,12,20,3},
{44970,45474,45501,27,419,0,88,0,12,27,3},{44970,45528,45554,26,386,0,88,0,12,26,3},{44970,45580,45611,31,421,0,88,0,12,31,3},
{44970,45642,45680,38,423,0,88,0,12,38,3},{44970,45718,45752,34,450,0,88,0,12,34,3},{44970,45786,45809,23,452,0,88,0,12,23,3},
{44970,45832,45856,403,663,0,88,0,12,24,3},{46259,46266,46287,21,372,0,88,0,7,21,3},{46259,46308,46335,27,7,0,88,0,7,27,3},
{46362,46366,46383,17,431,0,88,0,4,17,3},{46362,46400,46424,24,164,0,88,0,4,24,3},{46362,46448,46472,24,7,0,88,0,4,24,3},
{46496,46504,46523,39,382,0,88,0,8,19,3},{46496,46562,46588,45,120,0,88,0,8,26,3},{46496,46633,46649,30,31,0,88,0,8,16,3},
{46679,46688,46716,33,100,0,88,0,9,28,1},{46749,46755,46771,16,15,0,88,0,6,16,6},{46787,46803,46824,20,19,0,88,0,16,21,3},
{46844,46848,46860,18,31,677,88,0,4,12,4},{46844,46878,46889,18,586,84,88,0,4,11,4},{46907,46915,46936,21,76,82,88,0,8,21,4},
{46907,46957,46977,58,53,82,88,0,8,20,4},{46907,47035,47063,54,63,82,88,0,8,28,4},{46907,47117,47139,22,570,0,88,0,8,22,3},
{46907,47161,47176,15,524,82,88,0,8,15,4},{46907,47191,47217,40,120,0,88,0,8,26,7},{46907,47257,47275,27,15,82,88,0,8,18,4},
{46907,47302,47328,26,25,82,88,0,8,26,4},{46907,47354,47375,21,628,82,88,0,8,21,4},{46907,47396,47428,32,29,82,88,0,8,32,4},
{46907,47460,47485,25,35,82,88,0,8,25,4},{46907,47510,47528,18,338,82,88,0,8,18,4},{46907,47546,47565,19,96,82,88,0,8,19,4},
{46907,47584,47606,22,372,0,88,0,8,22,3},{47628,47643,47668,25,15,0,88,0,15,25,1},{47693,47703,47726,22,628,0,88,0,10,23,2},
{47693,47748,47769,26,555,0,88,0,10,21,3},{47795,47810,47831,20,74,680,88,0,15,21,4},{47851,47864,47896,41,100,0,88,0,13,32,3},
{47937,47949,47968,19,524,0,88,0,12,19,2},{47937,47987,48012,25,628,27,88,0,12,25,4},{47937,48037,48060,23,555,27,88,0,12,23,4},
{47937,48083,48115,32,380,27,88,0,12,32,4},{48147,48154,48175,21,485,417,88,0,7,21,4},{48196,48201,48223,27,316,324,88,0,5,22,4},
{48250,48260,48282,191,685,555,88,0,10,22,4},{48473,48479,48499,20,168,0,88,0,6,20,3},{48473,48519,48546,27,152,0,88,0,6,27,3},
{48573,48579,48591,19,74,690,88,0,6,12,4},{48610,48617,12791,24,425,146,88,0,7,14,4},{48631,48637,48655,18,329,0,88,0,6,18,3},
{48631,48673,48694,21,427,0,88,0,6,21,3},{48715,48723,48744,28,344,0,88,0,8,21,3},{48715,48772,48786,14,324,0,88,0,8,14,3},
{48800,48804,48828,29,560,0,88,0,4,24,3},{48857,48862,48874,18,524,0,88,0,5,12,2},{48892,48900,48913,17,158,0,88,0,8,13,1},
{48930,48953,48996,42,380,0,88,0,23,43,3},{49038,49061,49104,42,380,0,88,0,23,43,3},{49146,49155,49184,36,380,698,88,0,9,29,4},
{49220,49234,49268,34,380,0,88,0,14,34,3},{49302,49312,49336,24,570,0,88,0,10,24,3},{49360,49364,49376,12,13,0,88,0,4,12,2},
{49360,49388,49411,23,407,0,88,0,4,23,2},{49360,49434,49462,28,442,0,88,0,4,28,2},{49360,49490,49503,13,429,0,88,0,4,13,2},
{49360,49516,49536,20,409,0,88,0,4,20,2},{49360,49556,49569,13,411,0,88,0,4,13,2},{49360,49582,49603,21,413,0,88,0,4,21,2},
{49360,49624,49644,20,444,0,88,0,4,20,2},{49360,49664,49686,22,25,0,88,0,4,22,2},{49360,49708,49726,12,80,0,88,0,4,18,2},
{49360,49738,49750,12,415,0,88,0,4,12,2},{49360,49762,49775,30,82,0,88,0,4,13,2},{49360,49805,49817,12,417,0,88,0,4,12,2},
{49360,49829,49850,33,580,0,88,0,4,21,2},{49360,49883,49900,38,27,0,88,0,4,17,2},{49360,49938,49950,12,31,0,88,0,4,12,2},
{49360,49962,49973,11,586,0,88,0,4,11,2},{49360,49984,50003,19,419,0,88,0,4,19,2},{49360,50022,50039,17,33,0,88,0,4,17,2},
{49360,50056,50074,18,386,0,88,0,4,18,2},{49360,50092,50110,18,37,0,88,0,4,18,2},{49360,50128,50151,23,421,0,88,0,4,23,2},
{49360,50174,50204,30,423,0,88,0,4,30,2},{49360,50234,50260,26,450,0,88,0,4,26,2},{49360,50286,50301,15,452,0,88,0,4,15,2},
{49360,50316,50332,328,454,0,88,0,4,16,2},{50660,50673,50703,46,580,0,88,0,13,30,3},{50749,50753,50766,17,82,0,88,0,4,13,8},
{50783,50790,50821,31,29,27,88,0,7,31,4},{50852,50857,50867,14,540,0,88,0,5,10,2},{50881,50891,50912,21,11,0,88,0,10,21,1},
{50881,50933,50964,45,152,0,88,0,10,31,1},{50881,51009,51034,25,154,0,88,0,10,25,1},{51059,51064,51088,33,100,0,88,0,5,24,1},
{51121,51130,51149,51,5,0,88,0,9,19,6},{51200,51210,51230,57,5,0,88,0,10,20,1},{51287,51297,51317,26,5,0,88,0,10,20,2},{51343,51361,51388,26,82,0,88,0,18,27,3},
{51414,51422,51436,14,324,647,88,0,8,14,4},{51450,51458,51481,28,78,0,88,0,8,23,3},{51509,51521,51541,20,23,27,88,0,12,20,4},
{51509,51561,51580,12,524,27,88,0,12,19,4},{51509,51592,51613,29,429,27,88,0,12,21,4},{51509,51642,51668,34,358,27,88,0,12,26,4},
{51509,51702,51732,28,25,27,88,0,12,30,4},{51509,51760,51781,29,82,27,88,0,12,21,4},{51509,51810,51830,28,31,27,88,0,12,20,4},
{51509,51858,51877,27,586,27,88,0,12,19,4},{51509,51904,51933,29,35,27,88,0,12,29,4},{51962,51967,51983,29,515,515,88,0,5,16,4},
{52012,52019,52037,18,21,0,88,0,7,18,3},{52012,52055,52076,21,471,0,88,0,7,21,3},{52012,52097,52132,35,475,0,88,0,7,35,3},
{52012,52167,52196,29,479,0,88,0,7,29,3},{52225,52239,52273,33,164,7,88,0,14,34,4},{52306,52314,52336,21,80,27,88,0,8,22,4},
{52357,52362,52375,13,13,27,88,0,5,13,4},{52357,52388,52398,10,158,701,88,0,5,10,4},{52408,52414,52437,29,572,572,88,0,6,23,4},
{52408,52466,52485,19,366,524,88,0,6,19,4},{52408,52504,52528,24,370,639,88,0,6,24,4},{52408,52552,52567,15,9,9,88,0,6,15,4},
{52582,52589,52605,15,41,41,88,0,7,16,4},{52582,52620,52641,20,168,170,88,0,7,21,4},{52582,52661,52678,16,15,15,88,0,7,17,4},
{52582,52694,52721,26,368,710,88,0,7,27,4},{52582,52747,52766,18,329,716,88,0,7,19,4},{52582,52784,52801,16,338,723,88,0,7,17,4},
{52582,52817,52846,28,148,727,88,0,7,29,4},{52582,52874,52886,11,158,158,88,0,7,12,4},{52897,52908,52931,30,53,0,88,0,11,23,3},
{52897,52961,52992,37,63,0,88,0,11,31,3},{53029,53040,53060,27,360,730,88,0,11,20,4},{53029,53087,53108,32,15,737,88,0,11,21,4},
{53029,53140,53159,25,17,89,88,0,11,19,4},{53029,53184,53208,31,150,741,88,0,11,24,4},{53029,53239,53261,26,588,0,88,0,11,22,7},
{53287,53303,53327,24,17,0,88,0,16,24,3},{53351,53367,53393,26,15,0,88,0,16,26,3},{53419,53445,53495,49,29,27,88,0,26,50,4},
{53544,53550,53565,15,82,82,88,0,6,15,4},{53544,53580,53599,19,27,27,88,0,6,19,4},{53544,53618,53638,20,372,372,88,0,6,20,4},
{53658,53662,53686,89,7,0,88,0,4,24,3},{53775,53782,53797,43,13,31,88,0,7,15,4},{53775,53840,53859,57,53,31,88,0,7,19,4},
{53775,53916,53943,53,63,31,88,0,7,27,4},{53775,53996,54014,101,21,31,88,0,7,18,4},{53775,54115,54128,41,126,31,88,0,7,13,4},
{53775,54169,54190,21,570,31,88,0,7,21,4},{53775,54211,54229,46,11,31,88,0,7,18,4},{53775,54275,54288,13,362,31,88,0,7,13,4},
{53775,54301,54322,21,471,31,88,0,7,21,4},{53775,54343,54364,49,168,31,88,0,7,21,4},{53775,54413,54441,56,152,31,88,0,7,28,4},
{53775,54497,54513,44,162,31,88,0,7,16,4},{53775,54557,6253,20,352,31,88,0,7,16,4},{53775,54573,54607,34,473,31,88,0,7,34,4},
{53775,54641,54676,35,475,31,88,0,7,35,4},{53775,54711,54725,14,524,31,88,0,7,14,4},{53775,54739,54764,27,574,31,88,0,7,25,4},
{53775,54791,54819,28,364,31,88,0,7,28,4},{53775,54847,54871,52,578,31,88,0,7,24,4},{53775,54923,54953,30,481,31,88,0,7,30,4},
{53775,54983,55017,34,483,31,88,0,7,34,4},{53775,55051,55066,43,17,31,88,0,7,15,4},{53775,55109,55130,49,485,31,88,0,7,21,4},
{53775,55179,55192,41,324,31,88,0,7,13,4},{53775,55233,55258,25,378,31,88,0,7,25,4},{53775,55283,55297,46,586,31,88,0,7,14,4},
{53775,55343,55361,45,96,31,88,0,7,18,4},{53775,55406,55435,57,148,31,88,0,7,29,4},{53775,55492,55513,21,37,31,88,0,7,21,4},
{53775,55534,55554,48,150,31,88,0,7,20,4},{53775,55602,41984,26,487,31,88,0,7,23,4},{53775,55625,55641,44,9,31,88,0,7,16,4},
{53775,55685,55697,36,158,31,88,0,7,12,4},{53775,55733,55749,1386,747,780,88,0,7,16,4},{57135,57140,57151,17,362,114,88,0,5,11,4},
{57135,57168,57194,32,364,114,88,0,5,26,4},{57226,57233,57253,28,433,0,88,0,7,20,3},{57281,57293,57314,20,429,0,88,0,12,21,3},
{57334,57346,57372,26,471,0,88,0,12,26,1},{57398,57412,57448,35,479,27,88,0,14,36,4},{57483,57497,57525,27,477,0,88,0,14,28,3},
{57552,57557,57571,14,352,783,88,0,5,14,4},{57585,57594,57612,34,41,701,88,0,9,18,4},{57585,57646,57669,23,156,701,88,0,9,23,4},
{57585,57692,57718,26,316,787,88,0,9,26,4},{57585,57744,57766,35,344,647,88,0,9,22,4},{57585,57801,57823,28,628,122,88,0,9,22,4},
{57585,57851,57885,40,446,741,88,0,9,34,4},{57585,57925,57953,34,448,89,88,0,9,28,4},{57585,57987,58008,21,329,730,88,0,9,21,4},
{57585,58029,58048,25,338,89,88,0,9,19,4},{57585,58073,58097,24,427,130,88,0,9,24,4},{57585,58121,58145,24,154,701,88,0,9,24,4},
{57585,58169,58183,18,158,0,88,0,9,14,3},{58201,58216,58242,26,11,647,88,0,15,26,4},{58268,58286,58315,29,11,0,88,0,18,29,3},
{58344,58358,58387,28,154,0,88,0,14,29,3},{58415,58438,58472,33,11,27,88,0,23,34,4},{58505,58511,58525,21,13,0,88,0,6,14,1},
{58505,58546,58564,24,112,0,88,0,6,18,1},{58505,58588,58602,24,23,0,88,0,6,14,1},{58505,58626,58650,32,120,0,88,0,6,24,1},
{58505,58682,58702,20,485,0,88,0,6,20,1},{58505,58722,58741,28,431,0,88,0,6,19,1},{58505,58769,58780,20,158,0,88,0,6,11,1},
{58800,58805,58834,53,29,0,88,0,5,29,3},{58800,58887,58903,216,534,0,88,0,5,16,3},{59119,59127,59149,18,80,0,88,0,8,22,2},
{59119,59167,59188,17,27,0,88,0,8,21,2},{59119,59205,59224,67,84,0,88,0,8,19,2},{59291,59297,59314,23,21,0,88,0,6,17,7},
{59337,59350,59372,21,352,783,88,0,13,22,4},{59393,59405,59429,62,53,33,88,0,12,24,4},{59393,59491,59523,58,63,33,88,0,12,32,4},
{59393,59581,59603,65,15,33,88,0,12,22,4},{59393,59668,59687,51,586,33,88,0,12,19,4},{59393,59738,59767,29,35,33,88,0,12,29,4},
{59796,59807,59837,69,407,170,88,0,11,30,4},{59796,59906,59933,66,409,170,88,0,11,27,4},{59796,59999,60019,59,411,170,88,0,11,20,4},
{59796,60078,60106,67,413,170,88,0,11,28,4},{59796,60173,60192,58,415,170,88,0,11,19,4},{59796,60250,60269,58,417,170,88,0,11,19,4},
{59796,60327,60353,65,419,170,88,0,11,26,4},{59796,60418,60448,69,421,170,88,0,11,30,4},{59796,60517,60554,76,423,170,88,0,11,37,4},
{60630,60640,60669,29,507,109,88,0,10,29,4},{60698,60710,60734,42,448,160,88,0,12,24,4},{60776,60784,60811,27,107,107,88,0,8,27,4},
{60838,60852,60877,24,11,0,88,0,14,25,6},{60901,60921,60965,36,29,27,88,0,20,44,4},{61001,61022,61057,35,372,109,88,0,21,35,4},
{61092,61105,61132,26,156,170,88,0,13,27,4},{61158,61166,61180,14,362,0,88,0,8,14,3},{61158,61194,61223,29,152,0,88,0,8,29,3},
{61158,61252,61278,26,160,0,88,0,8,26,3},{61158,61304,61325,21,150,0,88,0,8,21,3},{61158,61346,61369,23,154,0,88,0,8,23,3},
{61158,61392,61405,13,158,0,88,0,8,13,3},{61418,61429,61455,37,427,0,88,0,11,26,0},{61492,61499,61525,26,107,792,88,0,7,26,4},
{61551,61564,61583,19,362,524,88,0,13,19,4},{61551,61602,61636,34,364,524,88,0,13,34,4},{61670,61677,61695,48,515,0,88,0,7,18,7},
{61743,61750,61775,25,25,0,88,0,7,25,3},{61800,61808,61830,22,372,419,88,0,8,22,4},{61852,61860,61874,14,362,122,88,0,8,14,4},
{61852,61888,61923,35,473,122,88,0,8,35,4},{61852,61958,61987,29,364,122,88,0,8,29,4},{61852,62016,62039,22,78,109,88,0,8,23,4},
{61852,62061,62083,22,477,122,88,0,8,22,4},{62105,62114,62142,28,407,0,88,0,9,28,2},{62105,62170,62200,30,440,0,88,0,9,30,2},
{62105,62230,62263,33,442,0,88,0,9,33,2},{62105,62296,62321,25,409,0,88,0,9,25,2},{62105,62346,62364,18,411,0,88,0,9,18,2},
{62105,62382,62408,26,413,0,88,0,9,26,2},{62105,62434,62459,25,444,0,88,0,9,25,2},{62105,62484,62501,17,415,0,88,0,9,17,2},
{62105,62518,62535,17,417,0,88,0,9,17,2},{62105,62552,62576,24,419,0,88,0,9,24,2},{62105,62600,62623,23,386,0,88,0,9,23,2},
{62105,62646,62674,28,421,0,88,0,9,28,2},{62105,62702,62737,35,423,0,88,0,9,35,2},{62105,62772,62803,31,450,0,88,0,9,31,2},
{62105,62834,62854,20,452,0,88,0,9,20,2},{62105,62874,62895,398,454,0,88,0,9,21,2},{63293,63300,63315,25,23,0,88,0,7,15,3},
{63340,63348,63367,19,11,0,88,0,8,19,6},{63340,63386,63404,27,374,0,88,0,8,18,6},{63431,63444,63479,35,148,386,88,0,13,35,4},
{63514,63522,63543,28,628,329,88,0,8,21,4},{63571,63584,63610,26,628,0,88,0,13,26,1},{63636,63642,63661,23,344,0,88,0,6,19,3},
{63684,63695,63718,22,53,0,88,0,11,23,3},{63684,63740,63761,20,15,0,88,0,11,21,3},{63684,63781,63805,23,628,0,88,0,11,24,3},
{63684,63828,63849,20,338,0,88,0,11,21,3},{63869,63881,63918,35,446,0,88,0,12,37,3},{63953,63969,64010,37,446,0,88,0,16,41,3},
{64047,64063,64091,27,53,795,88,0,16,28,4},{64047,64118,64144,25,15,795,88,0,16,26,4},{64047,64169,64198,28,628,800,88,0,16,29,4},
{64047,64226,64252,25,338,804,88,0,16,26,4},{64277,64285,64307,22,168,0,88,0,8,22,1},{64329,64337,64364,27,448,557,88,0,8,27,4},
{64329,64391,64413,34,146,122,88,0,8,22,4},{64329,64447,64470,23,810,109,88,0,8,23,4},{64493,64502,64525,23,168,812,88,0,9,23,4},
{64493,64548,64578,30,152,812,88,0,9,30,4},{64493,64608,64634,26,134,114,88,0,9,26,4},{64493,64660,64677,17,17,783,88,0,9,17,4},
{64694,64702,64721,19,96,0,88,0,8,19,1},{64740,64753,64776,22,5,0,88,0,13,23,1},{64798,64806,64827,21,76,102,88,0,8,21,4},
{64798,64848,64875,27,100,102,88,0,8,27,4},{64902,64911,64929,31,390,0,88,0,9,18,7},{64960,64974,65006,45,378,0,88,0,14,32,3},
{65088,65121,8211,25,378,0,88,3,33,51,5},{65186,65218,8330,30,378,0,91,3,32,50,5},{65268,65276,65297,21,344,109,94,0,8,21,4},
{65318,65325,65350,33,120,170,94,0,7,25,4},{65383,65393,65415,44,112,0,94,0,10,22,3},{65383,65459,65486,35,134,0,94,0,10,27,3},
{65521,65532,65555,43,112,112,94,0,11,23,4},{65521,65598,65626,28,134,170,94,0,11,28,4},{65654,65667,65687,52,586,37,94,0,13,20,4},
{65739,65748,65775,34,120,120,94,0,9,27,4},{65809,65817,65843,32,120,0,94,0,8,26,3},{65881,65893,65923,27,120,0,94,2,12,30,5},
{65881,65950,65982,32,642,0,96,0,12,32,3},{65881,66014,66040,26,37,0,96,0,12,26,3},{66066,66074,66091,17,41,41,96,0,8,17,4},
{66066,66108,66137,29,152,152,96,0,8,29,4},{66066,66166,66189,23,154,154,96,0,8,23,4},{66212,66220,66242,22,485,822,96,0,8,22,4},
{66264,66271,66292,21,471,362,96,0,7,21,4},{66264,66313,66348,35,475,473,96,0,7,35,4},{66264,66383,66409,26,576,574,96,0,7,26,4},
{66264,66435,66459,34,578,0,96,0,7,24,3},{66264,66493,66525,32,446,160,96,0,7,32,4},{66264,66557,66578,21,477,170,96,0,7,21,4},
{66264,66599,66628,29,479,158,96,0,7,29,4},{66657,66666,66696,30,152,89,96,0,9,30,4},{66657,66726,66749,23,156,827,96,0,9,23,4},
{66657,66772,66799,27,160,89,96,0,9,27,4},{66657,66826,66850,24,154,89,96,0,9,24,4},{66657,66874,66897,23,376,89,96,0,9,23,4},
{66657,66920,66934,14,158,89,96,0,9,14,4},{66948,66971,67005,33,11,27,96,0,23,34,4},{67038,67047,67070,23,471,122,96,0,9,23,4},
{67038,67093,67130,37,475,122,96,0,9,37,4},{67038,67167,67198,31,479,122,96,0,9,31,4},{67229,67240,67266,26,154,0,96,0,11,26,3},
{67292,67300,67328,38,560,0,96,0,8,28,3},{67292,67366,67396,35,384,0,96,0,8,30,3},{67292,67431,67459,49,513,170,96,0,8,28,4},
{67508,67524,67560,41,560,7,96,0,16,36,4},{67601,67609,67631,22,477,170,96,0,8,22,4},{67653,67664,67689,33,146,0,96,0,11,25,3},
{67722,67733,67758,25,146,122,96,0,11,25,4},{67722,67783,67807,24,431,0,96,0,11,24,2},{67831,67847,67882,48,448,109,96,0,16,35,4},
{67930,67936,67959,23,316,329,96,0,6,23,4},{67930,67982,67999,17,588,0,96,0,6,17,3},{68016,68034,68065,31,76,5,96,0,18,31,4},
{68096,68115,68151,35,316,787,96,0,19,36,4},{68186,68190,68209,41,427,0,96,0,4,19,3},{68250,68254,68282,28,29,0,96,0,4,28,3},
{68250,68310,68331,21,35,0,96,0,4,21,3},{68352,68357,68381,41,100,0,96,0,5,24,3},{68352,68422,68458,57,584,0,96,0,5,36,3},
{68515,68523,68536,13,98,39,96,0,8,13,4},{68549,68554,68567,13,23,0,96,0,5,13,3},{68580,68587,68606,24,112,0,96,0,7,19,3},
{68630,68644,68666,31,23,0,96,0,14,22,3},{68630,68697,68729,31,120,0,96,0,14,32,3},{68760,68776,68812,41,560,0,96,0,16,36,3},
{68853,68859,68879,20,168,832,96,0,6,20,4},{68853,68899,68926,27,152,832,96,0,6,27,4},{68853,68953,68973,20,146,122,96,0,6,20,4},
{68993,68997,69015,18,168,0,96,0,4,18,1},{69033,69039,69058,23,344,0,96,0,6,19,3},{69033,69081,69100,35,628,0,96,0,6,19,2},
{69135,69146,69170,24,76,0,96,0,11,24,3},{69194,69201,69219,18,11,840,96,0,7,18,4},{69194,69237,69268,41,29,25,96,0,7,31,4},
{69194,69309,69333,34,35,25,96,0,7,24,4},{69367,69383,69411,27,53,0,96,0,16,28,3},{69367,69438,69472,26,25,0,96,0,16,34,3},
{69367,69498,69523,24,39,0,96,0,16,25,3},{69367,69547,69568,20,98,0,96,0,16,21,3},{69588,69604,69630,25,15,27,96,0,16,26,4},
{69655,69667,69691,23,53,0,96,0,12,24,3},{69655,69714,69744,22,25,0,96,0,12,30,3},{69655,69766,69787,20,39,0,96,0,12,21,3},
{69655,69807,69824,16,98,0,96,0,12,17,3},{69840,69847,69872,41,120,0,96,0,7,25,3},{69913,69921,69942,21,76,0,96,0,8,21,3},
{69913,69963,69990,36,100,0,96,0,8,27,3},{69913,70026,70044,18,5,0,96,0,8,18,3},{70062,70065,70088,23,642,0,96,0,3,23,3},
{70111,70125,70150,25,96,0,96,0,14,25,3},{70175,70181,70196,21,162,114,96,0,6,15,4},{70217,70221,70236,22,21,0,96,0,4,15,3},
{70217,70258,70268,14,324,0,96,0,4,10,3},{70217,70282,70300,18,372,82,96,0,4,18,4},{70318,70322,70338,16,53,98,96,0,4,16,4},
{70354,70362,70390,33,560,0,96,0,8,28,2},{70423,70429,70446,26,21,89,96,0,6,17,4},{70423,70472,70489,32,515,390,96,0,6,17,4},
{70423,70521,70540,19,366,524,96,0,6,19,4},{70423,70559,70582,23,134,0,96,0,6,23,7},{70423,70605,44831,21,144,170,96,0,6,14,4},
{70423,70619,70630,11,540,849,96,0,6,11,4},{70423,70641,70667,37,368,114,96,0,6,26,4},{70423,70704,70724,25,146,0,96,0,6,20,2},
{70423,70749,70777,28,148,102,96,0,6,28,4},{70805,70816,70838,29,515,0,96,0,11,22,3},{70867,70878,70909,31,380,0,96,0,11,31,3},
{70940,70956,70980,14,23,854,96,0,16,24,4},{70994,71007,71031,23,515,0,96,0,13,24,7},{71054,71064,71085,26,515,390,96,0,10,21,4},
{71054,71111,71135,29,146,0,96,0,10,24,7},{71164,71183,71212,44,15,0,96,0,19,29,3},{71256,71265,71286,21,53,0,96,0,9,21,3},
{71256,71307,71334,27,25,0,96,0,9,27,3},{71256,71361,71394,33,29,0,96,0,9,33,3},{71256,71427,71453,26,35,0,96,0,9,26,3},{71256,71479,71497,18,39,0,96,0,9,18,3},
{71256,71515,71529,14,98,0,96,0,9,14,3},{71543,71551,71576,25,316,9,96,0,8,25,4},{71543,71601,71621,20,329,9,96,0,8,20,4},
{71543,71641,71664,23,154,9,96,0,8,23,4},{71687,71694,71715,21,372,27,96,0,7,21,4},{71736,71741,71756,23,5,0,96,0,5,15,3},
{8127,71779,71800,21,859,0,96,0,5,21,3},{8127,71821,71831,10,98,0,96,0,5,10,1},{71841,71851,71866,20,19,0,96,0,10,15,1},{71886,71893,71913,20,344,0,96,0,7,20,1},
{71933,71939,71953,14,13,0,96,0,6,14,3},{71933,71967,71992,25,407,0,96,0,6,25,3},{71933,72017,72035,18,53,0,96,0,6,18,3},{71933,72053,72068,15,41,0,96,0,6,15,3},
{71933,72083,72098,15,360,0,96,0,6,15,3},{71933,72113,72140,27,440,0,96,0,6,27,3},{71933,72167,72179,12,362,0,96,0,6,12,3},
{71933,72191,72211,20,471,0,96,0,6,20,3},{71933,72231,72256,25,107,0,96,0,6,25,3},{71933,72281,72301,20,168,0,96,0,6,20,3},
{71933,72321,72348,27,152,0,96,0,6,27,3},{71933,72375,72393,18,112,0,96,0,6,18,3},{71933,72411,72425,14,23,0,96,0,6,14,3},
{71933,72439,72454,15,162,0,96,0,6,15,3},{71933,72469,72484,15,352,0,96,0,6,15,3},{71933,72499,72532,33,473,0,96,0,6,33,3},
{71933,72565,72599,34,475,0,96,0,6,34,3},{71933,72633,72646,13,524,0,96,0,6,13,3},{71933,72659,72679,20,156,0,96,0,6,20,3},
{71933,72699,72722,23,316,0,96,0,6,23,3},{71933,72745,72768,23,134,0,96,0,6,23,3},{71933,72791,72815,24,120,0,96,0,6,24,3},
{71933,72839,72869,30,442,0,96,0,6,30,3},{71933,72899,72915,16,15,0,96,0,6,16,3},{71933,72931,72946,15,429,0,96,0,6,15,3},
{71933,72961,72985,24,574,0,96,0,6,24,3},{71933,73009,73034,25,576,0,96,0,6,25,3},{71933,73059,73079,20,358,0,96,0,6,20,3},
{71933,73099,73121,22,409,0,96,0,6,22,3},{71933,73143,73158,15,411,0,96,0,6,15,3},{71933,73173,73196,23,413,0,96,0,6,23,3},
{71933,73219,73241,22,444,0,96,0,6,22,3},{71933,73263,73290,27,364,0,96,0,6,27,3},{71933,73317,73343,26,642,0,96,0,6,26,3},
{71933,73369,73388,19,344,0,96,0,6,19,3},{71933,73407,73426,19,628,0,96,0,6,19,3},{71933,73445,73474,29,481,0,96,0,6,29,3},
{71933,73503,73536,56,483,0,96,0,6,33,3},{71933,73592,73612,20,80,0,96,0,6,20,3},{71933,73632,73646,14,17,0,96,0,6,14,3},
{71933,73660,73674,14,415,0,96,0,6,14,3},{71933,73688,73699,11,540,0,96,0,6,11,3},{71933,73710,73725,15,82,0,96,0,6,15,3},
{71933,73740,73754,14,417,0,96,0,6,14,3},{71933,73768,73788,20,485,0,96,0,6,20,3},{71933,73808,73820,12,324,0,96,0,6,12,3},
{71933,73832,73849,17,555,0,96,0,6,17,3},{71933,73866,73892,26,380,0,96,0,6,26,3},{71933,73918,73954,36,469,0,96,0,6,36,3},
{71933,73990,74011,21,78,0,96,0,6,21,3},{71933,74032,74050,18,329,0,96,0,6,18,3},{71933,74068,74088,20,477,0,96,0,6,20,3},
{71933,74108,74136,28,479,0,96,0,6,28,3},{71933,74164,74185,21,419,0,96,0,6,21,3},{71933,74206,74222,16,338,0,96,0,6,16,3},
{71933,74238,74258,20,386,0,96,0,6,20,3},{71933,74278,74306,28,148,0,96,0,6,28,3},{71933,74334,74353,19,150,0,96,0,6,19,3},
{71933,74372,74397,25,421,0,96,0,6,25,3},{71933,74422,74454,32,423,0,96,0,6,32,3},{71933,74486,74506,20,372,0,96,0,6,20,3},
{71933,74526,74548,22,487,0,96,0,6,22,3},{71933,74570,74598,28,450,0,96,0,6,28,3},{71933,74626,74647,21,154,0,96,0,6,21,3},
{71933,74668,74679,11,98,0,96,0,6,11,3},{71933,74690,74705,15,9,0,96,0,6,15,3},{71933,74720,74739,19,433,0,96,0,6,19,3},{71933,74758,74774,16,374,0,96,0,6,16,3},
{71933,74790,74811,21,810,0,96,0,6,21,3},{71933,74832,74852,20,376,0,96,0,6,20,3},{71933,74872,74883,11,158,0,96,0,6,11,3},
{71933,74894,74911,17,452,0,96,0,6,17,3},{71933,74928,74953,25,507,0,96,0,6,25,3},{71933,74978,74996,356,454,0,96,0,6,18,3},
{71933,75352,75370,115,685,0,96,0,6,18,3},{75485,75498,75524,25,628,0,96,0,13,26,3},{75549,75554,75572,18,76,372,96,0,5,18,4},
{75549,75590,75611,21,487,372,96,0,5,21,4},{75632,75645,75664,31,362,524,96,0,13,19,4},{75632,75695,75729,46,364,524,96,0,13,34,4},
{75775,75782,75797,15,13,861,96,0,7,15,4},{75775,75812,75832,20,76,869,96,0,7,20,4},{75775,75852,75865,13,126,170,96,0,7,13,4},
{75775,75878,75894,16,41,780,96,0,7,16,4},{75775,75910,75926,16,360,780,96,0,7,16,4},{75775,75942,75960,18,11,780,96,0,7,18,4},
{75775,75978,76004,26,107,780,96,0,7,26,4},{75775,76030,76051,21,168,780,96,0,7,21,4},{75775,76072,76100,28,152,780,96,0,7,28,4},
{75775,76128,76147,19,112,170,96,0,7,19,4},{75775,76166,76183,17,5,780,96,0,7,17,4},{75775,76200,76216,16,162,170,96,0,7,16,4},
{75775,76232,76253,21,156,874,96,0,7,21,4},{75775,76274,76300,26,526,780,96,0,7,26,4},{75775,76326,76350,24,316,874,96,0,7,24,4},
{75775,76374,76398,24,134,879,96,0,7,24,4},{75775,76422,76447,25,120,879,96,0,7,25,4},{75775,76472,76489,17,15,780,96,0,7,17,4},
{75775,76506,54764,27,574,31,96,0,7,25,4},{75775,76531,76543,12,136,884,96,0,7,12,4},{75775,76555,76567,12,19,893,96,0,7,12,4},
{75775,76579,76603,24,578,780,96,0,7,24,4},{75775,76627,76647,20,344,897,96,0,7,20,4},{75775,76667,76682,15,17,780,96,0,7,15,4},
{75775,76697,76709,12,540,874,96,0,7,12,4},{75775,76721,76742,21,485,901,96,0,7,21,4},{75775,76763,76776,13,324,909,96,0,7,13,4},
{75775,76789,76821,32,446,780,96,0,7,32,4},{75775,76853,76879,26,448,780,96,0,7,26,4},{75775,76905,76930,25,160,780,96,0,7,25,4},
{75775,76955,76982,27,368,780,96,0,7,27,4},{75775,77009,77046,37,469,917,96,0,7,37,4},{75775,77083,77123,40,920,922,96,0,7,40,4},
{75775,77163,77197,34,925,922,96,0,7,34,4},{75775,77231,77266,35,927,929,96,0,7,35,4},{75775,77301,77333,32,582,580,96,0,7,32,4},
{75775,77365,77406,41,933,922,96,0,7,41,4},{75775,77447,77466,19,329,874,96,0,7,19,4},{75775,77485,77502,17,338,780,96,0,7,17,4},
{75775,77519,77548,29,148,170,96,0,7,29,4},{75775,77577,77597,20,150,780,96,0,7,20,4},{75775,77617,77639,22,427,780,96,0,7,22,4},
{75775,77661,77683,22,154,874,96,0,7,22,4},{75775,77705,77721,16,9,935,96,0,7,16,4},{75775,77737,77758,23,376,941,96,0,7,21,4},
{75775,77781,77793,8,158,170,96,0,7,12,4},{77801,77813,77839,25,386,0,96,0,12,26,3},{77864,77874,77893,19,352,677,96,0,10,19,4},
{77912,77921,77943,35,76,945,96,0,9,22,4},{77978,77997,78026,45,374,374,96,0,19,29,4},{78071,78078,78096,18,21,0,96,0,7,18,3},
{78114,78123,78151,67,407,170,96,0,9,28,4},{78114,78218,78243,64,409,170,96,0,9,25,4},{78114,78307,78325,57,411,170,96,0,9,18,4},
{78114,78382,78408,65,413,170,96,0,9,26,4},{78114,78473,78490,56,415,170,96,0,9,17,4},{78114,78546,78563,56,417,170,96,0,9,17,4},
{78114,78619,78643,63,419,170,96,0,9,24,4},{78114,78706,78734,67,421,170,96,0,9,28,4},{78114,78801,78836,74,423,170,96,0,9,35,4},
{78910,78920,78945,30,78,0,96,0,10,25,3},{78975,78986,79008,22,382,382,96,0,11,22,4},{79030,79038,79061,23,810,122,96,0,8,23,4},
{79030,79084,79106,22,376,953,96,0,8,22,4},{79128,79135,79169,64,483,956,96,0,7,34,4},{79233,79250,79287,50,560,7,96,0,17,37,4},
{79337,79352,79379,33,53,170,96,0,15,27,4},{79337,79412,79446,33,107,170,96,0,15,34,4},{79479,79485,79502,14,382,0,96,0,6,17,7},
{79479,79516,79542,26,164,0,96,0,6,26,3},{65875,79568,79585,32,515,390,96,0,6,17,4},{65875,79617,79637,32,146,524,96,0,6,20,4},
{65875,79669,79686,17,96,170,96,0,6,17,4},{65875,79703,79725,22,166,0,96,0,6,22,3},{65875,79747,79772,25,959,170,96,0,6,25,4},
{79797,79808,79830,36,515,0,96,0,11,22,3},{79866,79877,79893,25,19,0,96,0,11,16,1},{79918,79932,79959,42,628,0,96,0,14,27,3},
{79918,80001,80038,36,481,0,96,0,14,37,3},{79918,80074,80115,55,483,0,96,0,14,41,3},{80170,80184,80229,71,584,0,96,0,14,45,3},
{80300,80313,80337,23,515,0,96,0,13,24,7},{80360,80370,80391,26,515,390,96,0,10,21,4},{80417,80424,80444,28,431,0,96,0,7,20,3},
{80417,80472,80503,31,29,0,96,0,7,31,3},{80417,80534,80552,106,534,0,96,0,7,18,3},{80658,80664,80681,17,588,0,96,0,6,17,2},
{80698,80708,80729,21,588,452,96,0,10,21,4},{80750,80771,80803,42,452,0,96,0,21,32,2},{80845,80854,80870,16,425,0,96,0,9,16,1},
{80886,80891,80915,24,407,0,96,0,5,24,2},{80886,80939,80965,26,440,0,96,0,5,26,2},{80886,80991,81008,17,112,0,96,0,5,17,2},
{80886,81025,81054,29,442,0,96,0,5,29,2},{80886,81083,81104,21,409,0,96,0,5,21,2},{80886,81125,81139,14,411,0,96,0,5,14,2},
{80886,81153,81175,22,413,0,96,0,5,22,2},{80886,81197,81210,13,415,0,96,0,5,13,2},{80886,81223,81233,10,540,0,96,0,5,10,2},
{80886,81243,81256,13,417,0,96,0,5,13,2},{80886,81269,81289,20,419,0,96,0,5,20,2},{80886,81309,81328,19,386,0,96,0,5,19,2},
{80886,81347,81371,24,421,0,96,0,5,24,2},{80886,81395,81426,31,423,0,96,0,5,31,2},{80886,81457,81476,19,372,0,96,0,5,19,2},
{80886,81495,81522,27,450,0,96,0,5,27,2},{80886,81549,81565,16,452,0,96,0,5,16,2},{80886,81581,81598,243,961,0,96,0,5,17,2},
{81841,81846,81870,24,407,0,96,0,5,24,3},{81841,81894,81915,21,409,0,96,0,5,21,3},{81841,81936,81950,14,411,0,96,0,5,14,3},
{81841,81964,81986,22,413,0,96,0,5,22,3},{81841,82008,82021,13,415,0,96,0,5,13,3},{81841,82034,82047,13,417,0,96,0,5,13,3},
{81841,82060,82080,20,419,0,96,0,5,20,3},{81841,82100,82124,24,421,0,96,0,5,24,3},{81841,82148,82179,31,423,0,96,0,5,31,3},
{82210,82220,82238,18,17,0,96,0,10,18,6},{82256,82264,82280,16,17,0,96,0,8,16,6},{82296,82300,82312,12,13,0,96,0,4,12,3},{82296,82324,82339,15,21,0,96,0,4,15,3},
{82296,82354,82365,11,425,0,96,0,4,11,3},{82296,82376,82389,13,352,0,96,0,4,13,3},{82296,82402,82413,11,524,0,96,0,4,11,3},
{82296,82424,82445,21,572,0,96,0,4,21,3},{82296,82466,82483,17,366,0,96,0,4,17,3},{82296,82500,82510,10,74,0,96,0,4,10,3},
{82296,82520,82538,18,80,0,96,0,4,18,3},{82296,82556,82568,12,17,0,96,0,4,12,3},{82296,82580,82592,12,415,0,96,0,4,12,3},{82296,82604,82617,13,82,0,96,0,4,13,3},
{82296,82630,82640,10,324,0,96,0,4,10,3},{82296,82650,82673,23,448,0,96,0,4,23,3},{82296,82696,82718,22,378,0,96,0,4,22,3},
{82296,82740,82757,17,431,0,96,0,4,17,3},{82296,82774,82798,24,164,0,96,0,4,24,3},{82296,82822,82839,17,27,0,96,0,4,17,3},
{82296,82856,82875,19,419,0,96,0,4,19,3},{82296,82894,82914,20,166,0,96,0,4,20,3},{82296,82934,82947,13,9,0,96,0,4,13,3},
{82296,82960,82983,32,435,0,96,0,4,23,3},{82296,83015,83039,24,7,0,96,0,4,24,7},{82296,83063,83080,25,433,0,96,0,4,17,3},
{82296,83105,83118,129,972,0,96,0,4,13,3},{83247,83258,83276,28,524,0,96,0,11,18,2},{83304,83310,83323,34,524,0,96,0,6,13,2},
{83357,83360,83382,22,407,0,96,0,3,22,7},{83357,83404,83428,24,440,0,96,0,3,24,7},{83357,83452,83464,12,162,0,96,0,3,12,7},
{83357,83476,83486,10,524,0,96,0,3,10,7},{83357,83496,83523,27,442,0,96,0,3,27,7},{83357,83550,83569,19,409,0,96,0,3,19,7},
{83357,83588,83600,12,411,0,96,0,3,12,7},{83357,83612,83632,20,413,0,96,0,3,20,7},{83357,83652,83671,19,444,0,96,0,3,19,7},
{83357,83690,83701,11,415,0,96,0,3,11,7},{83357,83712,83723,11,417,0,96,0,3,11,7},{83357,83734,83752,18,419,0,96,0,3,18,7},
{83357,83770,83787,17,386,0,96,0,3,17,7},{83357,83804,83826,22,421,0,96,0,3,22,7},{83357,83848,83877,29,423,0,96,0,3,29,7},
{83357,83906,83931,25,450,0,96,0,3,25,7},{83357,83956,83972,29,433,0,96,0,3,16,7},{83357,84001,84015,14,452,0,96,0,3,14,7},
{83357,84029,84044,295,979,0,96,0,3,15,7},{84339,84342,84351,9,362,0,96,0,3,9,3},{84339,84360,84377,17,471,0,96,0,3,17,3},
{84394,84406,84431,24,628,0,96,0,12,25,3},{84455,84467,84506,53,483,0,96,0,12,39,3},{7944,84559,84570,89,74,0,96,0,5,11,3},
{7944,84659,84677,27,431,0,96,0,5,18,2},{84704,84717,84742,38,329,0,96,0,13,25,3},{84780,84790,84812,63,329,0,96,0,10,22,1},
{84875,84889,84915,68,329,0,96,0,14,26,6},{84983,84995,85019,75,329,0,96,0,12,24,2},{85094,85102,85130,53,7,390,96,0,8,28,4},
{85183,85194,85223,29,378,0,96,0,11,29,0},{85252,85265,85296,31,378,0,96,0,13,31,0},{85327,85346,85384,37,100,0,96,0,19,38,3},
{85327,85421,85450,28,5,0,96,0,19,29,3},{85478,85485,85511,26,407,0,96,0,7,26,3},{85478,85537,85565,28,440,0,96,0,7,28,3},
{85478,85593,85624,31,442,0,96,0,7,31,3},{85478,85655,85678,23,409,0,96,0,7,23,3},{85478,85701,85717,16,411,0,96,0,7,16,3},
{85478,85733,85757,24,413,0,96,0,7,24,3},{85478,85781,85804,23,444,0,96,0,7,23,3},{85478,85827,85842,15,415,0,96,0,7,15,3},
{85478,85857,85872,15,417,0,96,0,7,15,3},{85478,85887,85909,22,419,0,96,0,7,22,3},{85478,85931,85952,21,386,0,96,0,7,21,3},
{85478,85973,85999,26,421,0,96,0,7,26,3},{85478,86025,86058,33,423,0,96,0,7,33,3},{85478,86091,86120,29,450,0,96,0,7,29,3},
{85478,86149,86167,18,452,0,96,0,7,18,3},{85478,86185,86204,347,979,0,96,0,7,19,3},{86551,86555,86565,10,324,0,96,0,4,10,3},
{86575,86579,86594,33,96,0,96,0,4,15,1},{86627,86641,86674,33,448,0,96,0,14,33,1},{86707,86719,86750,31,448,0,96,0,12,31,1},
{86781,86791,86819,40,378,0,96,0,10,28,0},{86859,86871,86901,42,378,0,96,0,12,30,0},
};

const std::uint16_t kSearchParameterCount = 1376;

const SearchComponentRow kSearchComponents[] = {
{7940,150,4},{7944,1343,5},{8094,153,33},{8127,1351,5},{8132,1350,3},{8015,153,10},{8236,1375,11},{8247,1374,9},{7940,180,4},{10090,1345,25},{7940,180,4},
{10174,1346,37},{7940,180,4},{10253,1347,18},{7940,180,4},{10321,1348,16},{7940,187,4},{10090,191,25},{7940,187,4},{10253,192,18},{7940,195,4},{10090,199,25},
{7940,195,4},{10253,200,18},{7940,264,4},{20651,248,36},{7940,265,4},{20651,249,36},{7940,266,4},{20651,250,36},{7940,267,4},{20651,251,36},{7940,268,4},
{20651,252,36},{7940,269,4},{20651,253,36},{7940,270,4},{20651,254,36},{7940,271,4},{20651,255,36},{7940,272,4},{20651,256,36},{7940,273,4},{20651,257,36},
{7940,274,4},{20651,258,36},{7940,275,4},{20651,259,36},{7940,276,4},{20651,260,36},{7940,277,4},{20651,261,36},{7940,278,4},{20651,262,36},{7940,279,4},
{20651,263,36},{7940,264,4},{10090,227,25},{7940,265,4},{10090,229,25},{7940,266,4},{10090,231,25},{7940,267,4},{10090,232,25},{7940,268,4},{10090,233,25},
{7940,269,4},{10090,234,25},{7940,270,4},{10090,235,25},{7940,271,4},{10090,236,25},{7940,272,4},{10090,237,25},{7940,273,4},{10090,241,25},{7940,274,4},
{10090,242,25},{7940,275,4},{10090,243,25},{7940,276,4},{10090,244,25},{7940,277,4},{10090,245,25},{7940,278,4},{10090,246,25},{7940,279,4},{10090,247,25},
{65051,971,37},{8127,1351,5},{8132,1350,3},{65172,971,14},{8236,1375,11},{8247,1374,9},{7940,981,4},{65875,982,6},
};

const std::uint16_t kSearchParametersOfType[] = {
0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,993,1002,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1004,1013,1036,1049,1066,
1084,1092,1111,0,0,1118,1123,1129,1153,1174,0,1183,1201,1217,1235,1247,1261,1282,1298,1315,1330,1349,1376,1398,1414,1425,1437,1445,1455,1462,1475,1479,1485,1504,
1509,1526,1540,1566,1583,1607,1614,1619,1623,1633,1656,1679,1702,1716,1734,1744,1751,1760,1775,1786,1791,1804,1822,1839,1847,1856,1875,1890,1904,1929,1933,1946,
1962,1985,1995,2009,2019,2033,2049,2063,2080,2092,2096,2102,2104,0,2106,0,2108,2111,2115,2117,2137,2152,2166,2186,2199,0,2238,0,2261,2275,0,2290,2314,2322,2331,
2351,2376,2394,2408,2425,2436,2456,2468,2486,2501,2524,2547,2561,2568,2579,2596,2604,2624,2646,2655,2668,2672,2699,2715,2722,0,0,0,0,0,37,2731,2737,2745,2765,
2780,2787,2804,2823,2825,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
0,0,0,0,0,
};

const std::uint16_t kSearchLists[] = {
0,1,23,1,24,1,91,1,191,1,189,1,80,1,64,1,107,1,130,1,119,1,70,1,92,1,123,1,163,1,164,1,166,1,171,1,172,1,177,1,185,1,77,9,68,87,101,142,158,178,187,203,209,1,68,
7,98,123,134,166,171,172,177,1,69,8,78,98,121,163,166,171,172,177,1,121,1,66,1,158,1,129,1,134,4,166,169,171,177,6,98,163,166,171,172,177,1,174,1,188,1,67,4,166,
171,172,177,1,84,2,171,172,1,89,5,163,166,171,172,177,1,105,3,163,171,172,1,71,1,97,3,98,171,172,1,104,1,118,5,98,163,166,171,172,1,132,1,155,1,176,1,178,1,87,1,
187,1,101,1,203,1,142,1,93,1,161,1,186,1,86,145,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99,100,
101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119,120,121,122,123,124,125,126,127,128,129,130,131,132,133,134,135,136,137,138,139,140,
141,142,143,144,145,146,147,148,149,150,151,152,153,154,155,156,157,158,159,160,161,162,163,164,166,167,168,169,170,171,172,173,174,175,176,177,178,179,180,181,
182,183,184,185,186,187,188,189,190,191,192,193,194,195,196,197,198,199,200,201,202,203,204,205,206,207,208,209,1,103,5,77,127,142,158,187,1,137,2,77,187,1,159,
6,77,101,127,142,158,187,1,173,3,77,142,187,1,124,5,68,69,77,187,203,1,94,3,166,169,177,1,111,1,78,1,82,1,116,1,100,1,143,1,154,1,181,1,194,1,202,1,156,1,141,1,
85,1,88,1,175,1,200,1,207,14,67,91,101,103,117,133,138,139,140,142,143,159,173,187,1,65,1,112,1,113,1,114,1,131,1,135,1,170,1,179,1,180,1,75,1,183,1,108,1,157,1,
193,1,190,2,107,111,1,81,1,106,1,115,1,139,1,140,1,184,1,206,14,76,85,88,90,120,128,154,157,161,186,191,192,204,207,1,145,1,83,1,95,1,96,1,167,1,168,1,126,1,127,
1,136,1,182,17,67,77,78,84,89,92,103,107,111,117,118,125,133,159,173,183,202,1,209,3,65,170,175,1,128,1,90,6,105,124,137,156,159,176,1,98,1,102,2,98,100,2,91,
173,5,166,169,171,172,177,1,133,12,89,101,103,105,118,133,158,159,173,183,187,209,1,138,2,166,171,1,76,3,91,137,159,3,156,159,176,1,74,1,99,1,109,1,110,1,122,1,
144,1,151,1,152,1,169,1,205,30,67,77,78,89,91,92,97,101,103,104,105,107,111,117,119,124,125,133,139,140,142,143,158,159,173,183,187,201,202,209,6,85,90,154,191,
192,207,1,125,2,138,194,5,65,135,161,170,175,2,65,170,1,117,2,83,94,7,78,98,163,166,171,172,177,7,103,117,124,137,159,176,183,13,76,85,90,120,128,154,157,161,
186,191,192,204,207,2,166,177,4,163,171,172,177,4,139,140,142,143,7,98,121,138,166,171,172,194,2,105,137,8,78,98,123,163,166,171,172,177,5,139,140,143,159,173,6,
124,125,139,140,143,173,3,139,159,173,2,159,173,6,78,163,166,171,172,177,3,171,172,177,5,98,166,171,172,177,32,67,77,78,84,89,91,92,97,101,102,103,104,105,107,
111,117,118,119,124,125,133,139,140,142,143,158,159,173,183,187,201,209,2,121,166,3,163,166,177,4,78,163,171,172,2,67,91,4,91,127,159,173,3,91,103,159,5,91,103,
105,159,173,1,201,9,78,98,121,123,163,166,171,172,177,4,134,163,171,172,4,98,163,171,172,7,98,123,163,166,171,172,177,8,103,124,125,139,140,159,173,201,4,98,166,
171,172,4,92,93,105,176,1,120,7,98,123,134,163,166,171,172,4,121,166,171,177,4,98,121,134,166,4,98,121,166,171,8,121,134,138,163,166,170,171,173,3,121,163,166,3,
98,121,166,7,98,121,134,166,171,172,177,7,98,121,134,166,171,172,189,2,144,151,1,146,2,138,144,1,147,1,149,3,138,144,194,1,153,5,98,121,134,166,194,3,134,163,
166,7,98,125,138,139,143,173,194,2,123,163,2,125,126,1,208,10,76,85,90,128,154,161,191,192,204,207,6,67,89,104,105,107,111,13,76,85,88,90,120,128,154,161,186,
191,192,204,207,8,1,2,3,4,5,6,7,8,1,9,8,528,730,786,814,872,1094,1174,1293,22,201,227,248,264,280,296,330,368,380,391,428,529,659,731,891,925,1095,1225,1264,
1282,1320,1354,12,37,128,331,482,688,968,1019,1038,1052,1170,1175,1222,16,76,129,162,180,326,358,604,683,706,763,847,969,1024,1053,1317,1352,17,32,74,103,332,
530,689,800,815,886,948,954,1042,1047,1061,1079,1096,1240,7,33,72,531,690,801,816,887,18,19,39,65,67,68,71,333,474,476,477,478,780,817,884,1058,1063,1224,1294,6,
81,164,315,532,818,1176,4,533,691,729,819,5,210,534,717,1263,1295,23,247,263,279,295,311,359,407,502,511,523,674,722,755,940,1008,1011,1031,1062,1167,1239,1281,
1338,1369,20,29,30,31,104,125,130,212,358,446,518,604,619,627,642,792,847,856,986,1097,1177,8,131,358,447,604,802,847,1098,1178,17,15,165,228,468,469,500,535,
760,820,868,869,871,903,942,1003,1039,1179,15,229,249,265,281,297,334,392,429,536,660,926,1099,1265,1321,1355,17,126,316,411,448,470,496,537,636,657,821,848,907,
915,920,1100,1172,1339,11,317,421,538,637,781,822,852,990,1004,1101,1340,13,78,358,449,503,504,539,649,847,902,914,1102,1180,1241,20,166,224,247,263,279,295,311,
359,407,605,674,680,755,940,1167,1235,1242,1281,1338,1369,15,105,132,450,540,620,628,714,793,823,958,962,1032,1035,1103,1181,16,91,106,133,451,519,541,715,761,
824,908,963,987,997,1033,1104,1182,14,167,247,263,279,295,311,359,407,755,940,1009,1167,1338,1369,18,79,82,134,215,230,358,459,479,604,847,873,976,978,1028,1105,
1183,1266,1317,26,247,263,279,295,311,359,378,407,605,674,755,779,917,940,1064,1072,1075,1076,1167,1244,1249,1255,1256,1281,1338,1369,21,10,11,12,77,119,135,163,
180,452,487,488,604,764,765,766,847,967,1054,1089,1184,1353,15,20,34,136,217,328,358,604,770,847,874,941,1027,1029,1074,1106,10,98,425,542,618,650,825,1057,1107,
1185,1322,11,117,158,159,367,543,826,855,885,1108,1221,1296,7,318,471,497,544,827,921,1109,9,319,422,545,638,782,828,991,1005,1110,6,83,168,527,604,607,847,12,
418,546,692,707,723,771,829,1111,1297,1318,1319,1323,3,547,788,1298,5,137,548,789,1065,1299,18,95,107,180,413,459,486,520,604,621,629,635,643,847,857,906,998,
1112,1186,4,414,549,847,1187,16,108,138,180,211,358,459,604,651,712,847,858,1017,1020,1085,1113,1188,13,84,320,393,604,654,847,964,977,979,1066,1114,1189,1317,
25,80,85,139,226,327,335,394,459,483,498,512,604,681,693,847,875,975,981,982,983,1030,1051,1115,1190,1317,16,231,250,266,282,298,336,395,430,550,661,732,927,
1116,1267,1324,1356,23,16,73,109,157,358,419,480,604,684,694,702,794,803,808,847,888,949,955,1046,1078,1117,1191,1317,6,216,551,733,772,851,1118,4,552,830,1119,
1192,3,553,992,1120,9,124,213,358,604,608,773,847,1121,1317,22,202,232,251,267,283,299,337,369,381,396,431,554,662,734,892,928,1122,1226,1268,1283,1325,1357,22,
203,233,252,268,284,300,338,370,382,397,432,555,663,735,893,929,1123,1227,1269,1284,1326,1358,22,204,234,253,269,285,301,339,371,383,398,433,556,664,736,894,930,
1124,1228,1270,1285,1327,1359,13,235,254,270,286,302,340,557,665,737,931,1125,1328,1360,17,127,156,313,321,412,423,453,472,499,558,658,831,849,916,922,1126,1173,
9,180,358,604,622,630,847,984,1055,1127,6,86,358,459,559,847,1193,8,18,140,604,685,847,1092,1194,1250,14,247,263,279,295,311,359,407,674,755,940,1090,1167,1338,
1369,10,36,150,152,169,489,560,705,716,1300,1343,4,561,832,993,1195,12,21,151,314,461,562,695,738,774,918,1043,1048,1080,17,116,121,420,454,462,604,616,648,720,
847,859,947,974,1036,1093,1128,1196,16,358,604,696,703,708,847,860,945,946,950,956,1037,1129,1169,1251,1341,7,341,426,563,606,833,1130,1252,8,342,564,610,834,
1131,1238,1253,1342,18,247,263,279,295,311,359,372,407,491,517,674,755,940,1010,1167,1281,1338,1369,14,40,44,48,52,56,60,64,463,565,739,785,881,1132,1301,13,17,
343,566,653,804,807,835,965,1133,1197,1291,1292,1302,24,205,225,236,255,271,287,303,344,373,384,399,434,567,666,740,895,932,1134,1229,1271,1286,1303,1329,1361,3,
87,655,1067,12,180,358,445,459,604,656,759,847,1068,1135,1198,1272,15,41,45,49,53,57,61,464,568,741,757,767,775,810,1136,1304,22,206,237,256,272,288,304,345,374,
385,400,435,569,667,742,896,933,1137,1230,1273,1287,1330,1362,9,346,481,570,711,836,876,989,1138,1199,13,110,322,415,455,571,721,768,837,1059,1139,1200,1305,
1370,9,180,493,510,572,611,613,704,709,1140,13,180,238,416,442,604,713,847,861,952,953,994,1168,1201,15,180,239,408,604,713,847,862,901,959,1016,1168,1202,1306,
1372,1373,13,160,161,170,427,612,614,710,725,726,727,728,1073,1141,16,97,141,180,360,460,604,639,640,641,644,713,847,909,999,1168,1203,11,142,180,240,436,604,
713,795,847,1069,1168,1204,3,573,743,756,5,312,525,574,1142,1205,1,1206,1,1207,1,1208,2,575,1209,3,576,1025,1254,1,1210,19,143,247,263,279,295,311,359,407,484,
505,605,674,755,790,940,1167,1281,1338,1369,14,88,171,409,410,473,485,506,960,1013,1014,1034,1070,1077,1245,13,153,154,155,577,838,971,972,973,1307,1350,1351,
1374,1375,19,218,247,263,279,295,311,359,407,526,674,677,755,877,940,1015,1167,1257,1308,1344,12,38,361,459,513,604,623,631,769,847,923,1143,1234,38,111,144,180,
181,182,183,184,187,188,189,190,191,192,195,196,197,198,199,200,329,358,386,417,459,507,524,604,718,796,847,863,1086,1144,1211,1345,1346,1347,1348,22,99,172,247,
263,279,295,311,359,407,615,617,674,678,755,784,940,1167,1243,1281,1309,1338,1369,13,22,42,46,50,54,58,62,465,578,744,811,882,1310,14,23,347,443,466,579,697,758,
809,879,904,1022,1040,1081,1258,23,24,43,47,51,55,59,63,118,363,364,444,501,514,515,516,580,682,686,745,776,880,883,1259,7,323,581,854,924,995,1012,1145,8,324,
424,582,783,853,996,1006,1146,19,43,47,51,55,59,63,118,444,514,583,687,746,777,839,880,883,889,980,1259,24,207,241,257,273,289,305,348,365,375,387,401,437,584,
668,747,897,934,1147,1231,1274,1288,1311,1331,1363,17,25,43,47,51,55,59,63,193,444,501,514,516,585,748,880,883,1259,13,26,349,444,467,586,698,778,880,890,1023,
1041,1082,1259,16,112,145,180,358,459,604,624,632,699,797,847,864,951,957,1148,1212,10,66,69,70,475,700,840,966,1056,1246,1371,19,173,242,258,274,290,306,350,
366,402,438,587,669,749,935,1149,1220,1275,1332,1364,11,89,92,113,456,588,798,841,944,1071,1150,1213,17,27,43,47,51,55,59,63,118,444,514,589,750,842,880,883,985,
1259,14,90,93,174,457,521,590,625,633,645,805,843,910,1151,1214,22,208,243,259,275,291,307,351,376,388,403,439,591,670,751,898,936,1152,1232,1276,1289,1333,1365,
22,209,244,260,276,292,308,352,377,389,404,440,592,671,752,899,937,1153,1233,1277,1290,1334,1366,13,146,353,508,593,675,701,812,905,919,1060,1088,1154,1278,6,
354,594,609,844,1155,1171,10,214,358,459,604,719,847,865,913,1021,1215,16,245,261,277,293,309,355,405,441,595,672,753,938,1156,1279,1335,1367,7,28,35,356,596,
1044,1049,1083,19,100,175,194,247,263,279,295,311,359,390,407,674,755,940,1167,1247,1312,1338,1369,21,94,114,120,147,180,459,604,626,634,646,762,847,866,870,911,
988,1000,1007,1087,1157,1216,8,75,597,1026,1045,1050,1084,1091,1158,12,14,122,185,186,220,222,598,791,845,1159,1217,1313,3,221,599,1314,26,13,101,102,247,263,
279,295,311,359,379,407,492,495,605,674,676,679,755,813,940,1167,1281,1315,1338,1349,1369,15,247,263,279,295,311,359,407,605,674,755,940,1167,1281,1338,1369,6,
219,325,850,1160,1316,1336,8,148,176,223,494,600,943,1161,1223,5,604,847,961,1162,1236,7,149,358,604,1001,1163,1218,1237,19,96,115,123,178,458,509,522,601,647,
724,787,799,846,867,878,912,1002,1164,1219,14,247,263,279,295,311,359,407,674,755,940,1167,1281,1338,1369,6,602,652,806,1018,1260,1261,16,246,262,278,294,310,
357,406,603,673,754,939,1165,1262,1280,1337,1368,18,179,247,263,279,295,311,359,407,490,605,674,755,940,970,1167,1281,1338,1369,1,1248,6,362,459,604,847,900,
1166,
};

}  // namespace annals::schema::tables
